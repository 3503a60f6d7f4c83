#include "core/checkpoint/checks/self_check.h"

#include "core/checkpoint/checks/largest_difference.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/graph/evaluate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace headscope::checkpoint {

namespace {

constexpr std::size_t most_tokens = 16;
constexpr double exact_within = 1e-5; ///< of sums that float32 rounds

std::string kind_in(const ModelConfig& config, Stack stack, const char* kind) {
    const std::string name = stack_name(config, stack);
    return name.empty() ? kind : name + " " + kind;
}

/// A tensor of the run and the node that has its numbers.
struct Compared {
    std::string node;
    const Tensor* numbers;
    std::string kind;
    std::optional<std::int64_t> layer;
    double tolerance;
};

std::vector<Compared> compared_tensors(const Model& model, const ForwardResult& run) {
    const ModelConfig& config = model.config();
    std::vector<Compared> all;
    for (const LayerRun& layer : run.layers)
        all.push_back({model.stages().name(layer.place, TensorId::weights),
                       layer.trace.stage(TensorId::weights), kind_in(config, layer.place.stack, "attentions"),
                       layer.place.layer, 1e-5});
    for (const auto& [stack, hidden] :
         {std::pair(Stack::encoder, &run.encoder_hidden), std::pair(Stack::own, &run.hidden)})
        for (std::size_t l = 0; l < hidden->size(); ++l)
            all.push_back({stack_prefix(config, stack) + "hidden." + std::to_string(l), (*hidden)[l].get(),
                           kind_in(config, stack, "hidden"), static_cast<std::int64_t>(l), 5e-5});
    if (run.logits != nullptr)
        all.push_back({"logits", run.logits.get(), "logits", std::nullopt, 2e-4});
    return all;
}

void add_double_precision(const ModelGraph& built, const Model& model, const std::vector<Compared>& all,
                          Progress& progress, std::vector<ReferenceRow>& rows) {
    std::vector<graph::Part> captures;
    for (const Compared& one : all)
        captures.push_back({one.node});
    const auto leaves = std::ranges::count_if(
        built.graph.nodes(), [](const graph::Node& node) { return graph::is_leaf(node.op); });
    std::ptrdiff_t read_leaves = 0;
    const graph::LeafSource read = leaves_of(built, model);
    const graph::Evaluation evaluated = graph::evaluate(
        built.graph,
        [&](const graph::Node& node) {
            progress.check();
            progress.report(static_cast<float>(read_leaves++) / static_cast<float>(leaves));
            return read(node);
        },
        captures);
    for (const Compared& one : all) {
        const std::vector<double>& expected = evaluated[one.node].values;
        LargestDifference comparison(one.kind, one.layer, one.tolerance);
        for (std::size_t n = 0; n < expected.size(); ++n)
            comparison.add(static_cast<double>(one.numbers->data()[n]), expected[n]);
        rows.push_back(comparison.row());
    }
}

/// Compares each sum of the stream with the sum of its terms in double precision.
void add_residual_sums(const graph::Graph& graph, const Model& model, const ForwardResult& run,
                       std::vector<ReferenceRow>& rows) {
    const ModelConfig& config = model.config();
    std::map<graph::NodeId, const Tensor*> numbers;
    for (const BlockRun& block : run.blocks)
        if (const auto node = graph.try_find(model.stages().name(block.place, block.id)))
            numbers.emplace(*node, block.tensor.get());
    std::map<std::pair<graph::Stack, std::int64_t>, LargestDifference> by_layer;
    for (graph::NodeId id = 0; std::cmp_less(id, graph.nodes().size()); ++id) {
        const graph::Node& node = graph.node(id);
        if (node.op != graph::Op::add || node.role != graph::Role::stream || !numbers.contains(id) ||
            !std::ranges::all_of(node.inputs,
                                 [&](const auto& input) { return numbers.contains(input.node); }))
            continue;
        LargestDifference& comparison =
            by_layer
                .try_emplace({node.location.stack, node.location.layer},
                             kind_in(config, static_cast<Stack>(node.location.stack), "residual sums"),
                             node.location.layer < 0 ? std::nullopt : std::optional(node.location.layer),
                             exact_within)
                .first->second;
        const Tensor& total = *numbers.at(id);
        for (std::int64_t n = 0; n < total.count(); ++n) {
            double sum = 0;
            for (const graph::Reading& input : node.inputs)
                sum += static_cast<double>(numbers.at(input.node)->data()[n]);
            comparison.add(static_cast<double>(total.data()[n]), sum);
        }
    }
    for (const auto& [place, comparison] : by_layer)
        rows.push_back(comparison.row());
}

void add_weight_sums(const ModelConfig& config, const ForwardResult& run, std::vector<ReferenceRow>& rows) {
    for (const LayerRun& layer : run.layers) {
        LargestDifference comparison(kind_in(config, layer.place.stack, "weight sums"), layer.place.layer,
                                     exact_within);
        const Tensor& weights = *layer.trace.stage(TensorId::weights);
        const Shape& shape = weights.shape();
        const std::int64_t Tk = shape[3], per_head = shape[2], per_text = shape[1] * shape[2];
        for (std::int64_t row = 0; row < weights.count() / Tk; ++row) {
            double sum = 0;
            for (std::int64_t j = 0; j < Tk; ++j)
                sum += static_cast<double>(weights.data()[row * Tk + j]);
            const MaskedRow place{row / per_text, row / per_head % shape[1], row % per_head};
            const bool empty =
                std::ranges::find(layer.trace.fully_masked, place) != layer.trace.fully_masked.end();
            const bool may_be_less = layer.trace.parts.sink && sum < 1;
            comparison.add(sum, empty ? 0.0 : may_be_less ? sum : 1.0);
        }
        rows.push_back(comparison.row());
    }
}

ReferenceRow second_run(const std::vector<Compared>& first, const std::vector<Compared>& second) {
    LargestDifference comparison("second run", std::nullopt, 0);
    for (std::size_t n = 0; n < first.size(); ++n)
        for (std::int64_t at = 0; at < first[n].numbers->count(); ++at) {
            const float a = first[n].numbers->data()[at], b = second[n].numbers->data()[at];
            if (std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b))
                comparison.add(static_cast<double>(a), a == b ? std::nan("") : static_cast<double>(b));
        }
    return comparison.row();
}

} // namespace

ModelInputs self_check_inputs(const TextModel& model) {
    const ModelInputs prompt = prompt_inputs(model, first_prompt(model));
    std::vector<std::int64_t> ids = prompt.source.empty() ? prompt.ids : prompt.source.front().ids;
    ids.resize(std::min(ids.size(), most_tokens));
    if (prompt.source.empty())
        return token_inputs(model, std::move(ids));
    ModelInputs source = prompt.source.front();
    source.T = std::ssize(ids);
    source.ids = ids;
    source.tokens.resize(std::min(source.tokens.size(), ids.size()));
    source.token_types.resize(std::min(source.token_types.size(), ids.size()));
    source.attention_mask.resize(std::min(source.attention_mask.size(), ids.size()));
    return token_inputs(model, decoder_ids(model.model->config(), std::move(ids)), {source});
}

std::vector<ReferenceRow> check_itself(const Model& model, const ModelInputs& inputs, run::Backend* backend,
                                       Progress& progress) {
    StageSet around;
    for (const TensorInfo& row : block_table())
        around = around.with(row.id);
    progress.set_part(0.0F, 0.2F);
    const ForwardResult run =
        run_model(model, inputs, {.stages = around.with(TensorId::weights)}, backend, progress);
    progress.set_part(0.2F, 0.4F);
    const ForwardResult again =
        run_model(model, inputs, {.stages = StageSet().with(TensorId::weights)}, backend, progress);
    progress.set_part(0.4F, 1.0F);
    const std::vector<Compared> all = compared_tensors(model, run);
    const ModelGraph built = graph_of(model.architecture(), inputs, model.has_head());
    std::vector<ReferenceRow> rows;
    add_double_precision(built, model, all, progress, rows);
    add_residual_sums(built.graph, model, run, rows);
    add_weight_sums(model.config(), run, rows);
    rows.push_back(second_run(all, compared_tensors(model, again)));
    progress.set_part(0.0F, 1.0F);
    progress.report(1.0F);
    return rows;
}

} // namespace headscope::checkpoint
