#include "core/checkpoint/graph/graph_runs.h"

#include "core/checkpoint/model/edited_table.h"

#include <algorithm>
#include <utility>

namespace headscope::checkpoint {

namespace {

/// A weight with the user's edits; null if none changes it.
TensorPtr edited_weight(const Model& model, const ModelEdits& edits, const WeightPlace& at) {
    if (at.place.layer < 0) {
        const Model& stack = at.place.stack == Stack::encoder ? *model.encoder() : model;
        TensorPtr edited = edited_end_weight(stack, edits, at.weight);
        return edited == stack.weight(at.weight) ? nullptr : edited;
    }
    const std::int64_t n = attention_number(model.architecture(), at.place);
    const LayerEdits* const layer = edits_of(edits, n);
    if (layer == nullptr)
        return nullptr;
    if (const auto whole = layer->tensors.find(at.weight); whole != layer->tensors.end())
        return whole->second;
    const auto rows = layer->rows.find(at.weight);
    return rows == layer->rows.end() ? nullptr : with_rows(model.layer(n)[at.weight], rows->second);
}

/// The rows of a patch that are tokens of the text. The first of them is one.
run::Intervention patch_of(std::string node, const graph::Axes& axes, const PatchedRows& patch) {
    const graph::Axis &tokens = axes[1], &numbers = axes.back(0);
    const std::int64_t columns = patch.rows->shape()[1],
                       rows = std::min(tokens.size - patch.first, patch.rows->shape()[0]);
    return {
        .part = {std::move(node),
                 {{tokens.name, {patch.first, rows}}, {numbers.name, {patch.column, columns}}}},
        .kind = patch.added ? run::Intervention::Kind::add : run::Intervention::Kind::set,
        .values = std::make_shared<const Tensor>(
            Shape{1, rows, columns}, patch.rows->values().first(static_cast<std::size_t>(rows * columns)))};
}

} // namespace

GraphRuns::GraphRuns(std::shared_ptr<const Model> model, const ModelInputs& inputs, const ModelEdits& edits,
                     std::shared_ptr<cpu::CpuMachine> machine)
    : model_(std::move(model)), built_(graph_of(model_->architecture(), inputs, model_->has_head())),
      backend_(std::move(machine)) {
    check_edits(*model_, edits);
    leaves_.source = std::make_shared<const graph::LeafSource>(leaves_of(built_, *model_));
    take_weights(edits);
    for (const auto& [n, layer] : edits)
        take_layer(n, layer);
}

void GraphRuns::take_weights(const ModelEdits& edits) {
    if (edits.empty())
        return;
    leaves_.by_node.resize(built_.graph.nodes().size());
    for (const auto& [name, place] : built_.weights)
        leaves_.by_node[static_cast<std::size_t>(built_.graph.find(name))] =
            edited_weight(*model_, edits, place);
}

void GraphRuns::take_layer(std::int64_t n, const LayerEdits& edits) {
    const AttentionPlace place = attention_place(model_->architecture(), n);
    if (!edits.gains.empty())
        edits_.push_back(
            {.part = {layer_prefix(model_->architecture(), place) + "gain"},
             .values = std::make_shared<const Tensor>(Shape{std::ssize(edits.gains)}, edits.gains)});
    for (const PatchedRows& patch : edits.patched)
        if (const std::string node = name(place, patch.at); patch.first < built_.graph[node].axes.size(1))
            edits_.push_back(patch_of(node, built_.graph[node].axes, patch));
}

const std::string& GraphRuns::head_input() const {
    std::string_view product = tensor_info(TensorId::logits).name;
    if (const auto raw = built_.graph.try_find("logits_raw"))
        product = built_.graph.node(*raw).name;
    return built_.graph.node(built_.graph[product].inputs.front().node).name;
}

run::RunPtr GraphRuns::run(const std::vector<graph::Part>& captures, const run::Interventions& interventions,
                           const run::RunPtr& previous, Progress& progress) {
    constexpr std::size_t most_plans = 16;
    run::Interventions all = edits_;
    all.insert(all.end(), interventions.begin(), interventions.end());
    run::NodeInterventions resolved = run::resolve(built_.graph, all);
    const auto found = std::ranges::find_if(plans_, [&](const run::PlanPtr& plan) {
        return plan->fits(built_.graph, captures, resolved, backend_);
    });
    if (found != plans_.end())
        plans_.splice(plans_.begin(), plans_, found);
    else
        plans_.push_front(std::make_shared<const run::Plan>(built_.graph, captures, resolved, backend_));
    if (plans_.size() > most_plans)
        plans_.pop_back();
    return run::run(plans_.front(), leaves_, std::move(resolved), previous, progress);
}

} // namespace headscope::checkpoint
