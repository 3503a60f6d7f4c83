#include "core/checkpoint/graph/text_graph.h"

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/edited_table.h"

#include <algorithm>
#include <utility>

namespace headscope::checkpoint {

namespace {

const Architecture& runnable(const Model& model) {
    model.require_runnable();
    return model.architecture();
}

/// The changed rows of a table, or the changed weight; both null if no edit changes it.
struct EditedWeight {
    TensorPtr whole;
    TableRows rows;
};

EditedWeight edited_weight(const Model& model, const ModelEdits& edits, const WeightPlace& at) {
    if (at.place.layer < 0 && !is_editable_weight(at.weight))
        return {}; // not editable
    if (at.place.layer < 0) {
        const Model& stack = at.place.stack == Stack::encoder ? *model.encoder() : model;
        if (is_table(at.weight)) {
            const std::int64_t last = attention_count(stack.config()) - 1;
            const TableRows* const rows = edited_rows(stack.config(), edits, at.weight, last);
            return {nullptr, rows == nullptr ? TableRows() : *rows};
        }
        TensorPtr edited = edited_end_weight(stack, edits, at.weight);
        return {edited == stack.weight(at.weight) ? nullptr : edited, {}};
    }
    const LayerEdits* const layer = edits_of(edits, attention_number(model.config(), at.place));
    if (layer == nullptr)
        return {};
    const auto whole = layer->tensors.find(at.weight);
    const auto rows = layer->rows.find(at.weight);
    return {whole == layer->tensors.end() ? nullptr : whole->second,
            rows == layer->rows.end() ? TableRows() : rows->second};
}

/// A row of a table.
run::Intervention set_row(const graph::Node& table, std::int64_t row, const Tensor& numbers) {
    return {.part = {table.name, {{table.axes[0].name, {row, 1}}}},
            .values = std::make_shared<const Tensor>(table.axes.with(0, {table.axes[0].name, 1}).shape(),
                                                     numbers.values())};
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

TextGraph::TextGraph(std::shared_ptr<const Model> model, const ModelInputs& inputs, const TextGraph* other,
                     float temperature)
    : model_(std::move(model)), built_(graph_of(runnable(*model_), inputs, model_->has_head(), temperature)),
      inputs_(built_.graph.nodes().size()),
      reader_(other != nullptr ? other->reader_ : std::make_shared<WeightReader>(built_.weights, model_)),
      weights_(other != nullptr
                   ? other->weights_
                   : std::make_shared<const graph::LeafSource>(
                         [reader = reader_](const graph::Node& node) { return reader->read(node); })) {
    for (const auto& [name, numbers] : built_.inputs)
        inputs_[static_cast<std::size_t>(built_.graph.find(name))] = numbers;
}

std::optional<TensorId> TextGraph::weight_of(graph::NodeId parameter) const {
    const auto found = built_.weights.find(built_.graph.node(parameter).name);
    return found == built_.weights.end() ? std::nullopt : std::optional(found->second.weight);
}

const std::string& TextGraph::head_input() const {
    std::string_view product = tensor_info(TensorId::logits).name;
    if (const auto raw = built_.graph.try_find("logits_raw"))
        product = built_.graph.node(*raw).name;
    return built_.graph.node(built_.graph[product].inputs.front().node).name;
}

TextGraph::Numbers TextGraph::with(const ModelEdits& edits) const {
    Numbers numbers{.leaves = {.by_node = inputs_, .source = weights_}, .interventions = {}};
    if (edits.empty())
        return numbers;
    take_weights(edits, numbers);
    for (const auto& [n, layer] : edits)
        take_layer(n, layer, numbers);
    return numbers;
}

void TextGraph::take_weights(const ModelEdits& edits, Numbers& to) const {
    for (const auto& [name, place] : built_.weights) {
        const EditedWeight edited = edited_weight(*model_, edits, place);
        const graph::NodeId id = built_.graph.find(name);
        if (edited.whole != nullptr)
            to.leaves.by_node[static_cast<std::size_t>(id)] = edited.whole;
        for (const auto& [row, numbers] : edited.rows)
            to.interventions.push_back(set_row(built_.graph.node(id), row, *numbers));
    }
}

void TextGraph::take_layer(std::int64_t n, const LayerEdits& edits, Numbers& to) const {
    const AttentionPlace place = attention_place(model_->architecture(), n);
    if (std::ranges::any_of(edits.gains, [](float gain) { return gain != 1.0F; }))
        to.interventions.push_back(
            {.part = {layer_prefix(model_->architecture(), place) + "gain"},
             .values = std::make_shared<const Tensor>(Shape{std::ssize(edits.gains)}, edits.gains)});
    for (const PatchedRows& patch : edits.patched)
        if (const std::string node = name(place, patch.at); patch.first < built_.graph[node].axes.size(1))
            to.interventions.push_back(patch_of(node, built_.graph[node].axes, patch));
}

} // namespace headscope::checkpoint
