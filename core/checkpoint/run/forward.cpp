#include "core/checkpoint/run/forward.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/run/attention_problem.h"
#include "core/checkpoint/run/pass.h"

#include <algorithm>
#include <map>
#include <utility>

namespace headscope::checkpoint {

namespace {

void check_layer(std::int64_t layer, std::int64_t layers) {
    if (layer < 0 || layer >= layers)
        fail_input(tr("common.no_layer_layers_numbered", "there is no layer {}; layers are numbered 0 to {}",
                      layer, layers - 1));
}

void check_options(const ForwardOptions& options, const ModelConfig& config) {
    std::int64_t layers = 0;
    for (const Stack stack : stacks_of(config))
        layers = std::max(layers, in_stack(config, stack).layers);
    if (options.layer)
        check_layer(*options.layer, layers);
    const bool wants_attention =
        options.keep_problems ||
        (!options.stages.empty() && (options.stages & StageSet::all()) == options.stages);
    if (options.layer && wants_attention && options.stack.value_or(Stack::own) == Stack::own)
        require_attention(config, {Stack::own, *options.layer});
}

/// What run_model keeps of an attention.
struct KeptLayer {
    AttentionPlace place;
    std::vector<std::pair<TensorId, run::NodeId>> stages; ///< and their nodes
    std::optional<AttentionSourceNodes> sources{};        ///< of the problem, if it is kept
};

/// Collects the captured nodes of a pass into its result.
class Collector {
public:
    Collector(const ModelInputs& inputs, const ForwardOptions& options, const TextGraph& text)
        : model_(*text.model()), config_(model_.config()), stages_(model_.stages()), inputs_(inputs),
          options_(options), text_(text) {
        for (const Stack stack : {Stack::encoder, Stack::own})
            if (stack == Stack::own || config_.encoder != nullptr)
                add_stack(stack);
        if (options.logits && model_.has_head())
            capture("logits");
        if (options.stages.has(TensorId::probabilities) && options.logits && model_.has_head())
            add_block({Stack::own, -1}, TensorId::probabilities, "probabilities");
        for (const std::string& name : options.nodes)
            if (std::ranges::none_of(nodes_, [&](const auto& kept) { return kept.first.name == name; }))
                refuse_node(name);
    }

    std::vector<graph::Part> captures() const {
        std::vector<graph::Part> parts;
        for (const auto& [id, numbers] : numbers_)
            parts.push_back({text_.graph().node(id).name});
        return parts;
    }
    ForwardResult collect(Pass& pass, Progress& progress);

private:
    bool keeps(AttentionPlace place) const {
        return (place.layer < 0 || !options_.layer || *options_.layer == place.layer) &&
               (!options_.stack || *options_.stack == place.stack);
    }
    run::NodeId capture(const std::string& node) {
        const run::NodeId id = text_.graph().find(node);
        numbers_.emplace(id, nullptr);
        return id;
    }
    const TensorPtr& captured(const std::string& node) const { return numbers_.at(text_.graph().find(node)); }
    void add_block(AttentionPlace place, TensorId id, const std::string& node) {
        if (options_.stages.has(id) && (keeps(place) || keeps(stages_.named_place(place, id))))
            blocks_.emplace_back(BlockRun{place, id, nullptr}, capture(node));
    }
    void add_nodes(AttentionPlace place);
    [[noreturn]] void refuse_node(const std::string& name) const;
    void add_stack(Stack stack);
    void add_attention(AttentionPlace place);
    LayerRun layer_run(const KeptLayer& kept, Pass& pass) const;
    bool is_complete(const KeptLayer& kept) const;

    const Model& model_;
    const ModelConfig& config_;
    const ModelStages& stages_;
    const ModelInputs& inputs_;
    const ForwardOptions& options_;
    const TextGraph& text_;
    std::map<run::NodeId, TensorPtr> numbers_; ///< of captured nodes
    std::vector<KeptLayer> layers_;
    std::size_t taken_ = 0; ///< layers that were handed over
    std::vector<std::pair<BlockRun, run::NodeId>> blocks_;
    std::vector<std::pair<NodeRun, run::NodeId>> nodes_;
    std::map<Stack, std::vector<run::NodeId>> hidden_;
};

/// The nodes of options.nodes that this place has.
void Collector::add_nodes(AttentionPlace place) {
    if (!keeps(place))
        return;
    const std::string prefix = layer_prefix(config_, place);
    for (const std::string& name : options_.nodes)
        if (const auto id = text_.graph().try_find(prefix + name);
            id && !graph::is_leaf(text_.graph().node(*id).op))
            nodes_.emplace_back(NodeRun{place, name, nullptr}, capture(prefix + name));
}

void Collector::refuse_node(const std::string& name) const {
    std::vector<std::string> names;
    for (const graph::Node& node : text_.graph().nodes())
        if (const std::string local(node.local_name());
            !graph::is_leaf(node.op) && std::ranges::find(names, local) == names.end())
            names.push_back(local);
    fail_input(
        tr("forward.no_such_node",
           "there is no stage “{}” in this {} model, or not in the layer that was asked for; it has {}", name,
           config_.family, joined(names)));
}

/// The nodes of a stack in the order in which they are computed; of a decoder with its cross-attention.
void Collector::add_stack(Stack stack) {
    const ModelConfig& a = in_stack(config_, stack);
    const std::string prefix = layer_prefix(config_, {stack, -1});
    const auto around = [&](TensorId id) {
        add_block({stack, -1}, id, prefix + std::string(tensor_info(id).name));
    };
    std::ranges::for_each(stages_.before_layers(stack), around);
    add_nodes({stack, -1});
    for (std::int64_t l = 0; l < a.layers; ++l) {
        add_attention({stack, l});
        if (stack == Stack::own && config_.encoder != nullptr)
            add_attention({Stack::cross, l});
    }
    for (const TensorId id : {TensorId::merged, TensorId::final_norm})
        if (stages_.has({stack, -1}, id))
            around(id);
    for (std::int64_t l = 0; l <= a.layers; ++l)
        hidden_[stack].push_back(capture(prefix + "hidden." + std::to_string(l)));
}

void Collector::add_attention(AttentionPlace place) {
    for (const TensorId id : stages_.in_layer(place))
        add_block(place, id, stages_.name(place, id));
    add_nodes(place);
    if ((options_.stages.empty() && !options_.keep_problems) || !keeps(place) ||
        !has_attention(config_, place))
        return;
    KeptLayer kept{.place = place, .stages = {}};
    for (const TensorInfo& stage : stage_table())
        if (const std::string node = stages_.name(place, stage.id);
            options_.stages.has(stage.id) && text_.graph().try_find(node))
            kept.stages.emplace_back(stage.id, capture(node));
    if (options_.keep_problems) {
        kept.sources = sources_of_attention(text_, place);
        for (const graph::Part& source : kept.sources->captures())
            capture(source.node);
    }
    layers_.push_back(std::move(kept));
}

bool Collector::is_complete(const KeptLayer& kept) const {
    const std::vector<graph::Part> sources =
        kept.sources ? kept.sources->captures() : std::vector<graph::Part>();
    return std::ranges::all_of(sources,
                               [&](const graph::Part& source) { return captured(source.node) != nullptr; }) &&
           std::ranges::all_of(kept.stages,
                               [&](const auto& stage) { return numbers_.at(stage.second) != nullptr; });
}

LayerRun Collector::layer_run(const KeptLayer& kept, Pass& pass) const {
    const std::int64_t n = attention_number(config_, kept.place);
    LayerRun layer{kept.place, {}, std::nullopt};
    if (kept.sources) {
        const AttentionSources sources =
            kept.sources->of([this](const std::string& node) { return captured(node); });
        layer.problem = with_edits(attention_problem(text_, inputs_, kept.place, model_.layer(n), sources),
                                   config_, options_.edits, n);
    }
    Trace& trace = layer.trace;
    trace.dims = dims_of_attention(model_, inputs_, kept.place);
    trace.device = pass.device();
    trace.parts = parts_of_attention(text_, kept.place);
    StageSet made, of_attention;
    for (const auto& [id, node] : kept.stages) {
        trace.slot(id) = numbers_.at(node);
        made = made.with(id);
        if (id == TensorId::x)
            continue;
        of_attention = of_attention.with(id);
        if (pass.is_on_cpu(node))
            trace.left_to_cpu = trace.left_to_cpu.with(id);
    }
    if (trace.left_to_cpu == of_attention) {
        trace.device = run::cpu_device;
        trace.left_to_cpu = {};
    }
    trace.computed = DirtySet::all(trace.dims.H, made);
    return layer;
}

ForwardResult Collector::collect(Pass& pass, Progress& progress) {
    run::TakeNode take;
    if (options_.take)
        take = [&](run::NodeId node, TensorPtr numbers) {
            numbers_.at(node) = std::move(numbers);
            for (; taken_ < layers_.size() && is_complete(layers_[taken_]); ++taken_) {
                const KeptLayer& kept = layers_[taken_];
                options_.take(layer_run(kept, pass));
                for (const auto& [id, stage] : kept.stages)
                    numbers_.at(stage) = nullptr;
            }
        };
    const run::RunPtr run = pass.run(captures(), progress, take);
    if (!options_.take)
        for (auto& [node, numbers] : numbers_)
            numbers = run->tensor(node);
    ForwardResult result;
    result.edits = options_.edits;
    for (; taken_ < layers_.size(); ++taken_) {
        const KeptLayer& kept = layers_[taken_];
        result.layers.push_back(layer_run(kept, pass));
        const run::NodeId weights = text_.graph().find(stages_.name(kept.place, TensorId::weights));
        for (const run::EmptyRow& row : run->empty_rows())
            if (row.node == weights)
                result.layers.back().trace.fully_masked.push_back({row.b, row.h, row.i});
    }
    for (auto& [block, node] : blocks_) {
        block.tensor = numbers_.at(node);
        result.blocks.push_back(std::move(block));
    }
    for (auto& [kept, node] : nodes_) {
        kept.tensor = numbers_.at(node);
        result.nodes.push_back(std::move(kept));
    }
    for (const auto& [stack, nodes] : hidden_)
        for (const run::NodeId node : nodes)
            (stack == Stack::encoder ? result.encoder_hidden : result.hidden).push_back(numbers_.at(node));
    if (options_.logits && model_.has_head())
        result.logits = numbers_.at(text_.graph().find("logits"));
    return result;
}

} // namespace

ForwardResult run_model(const Model& model, const ModelInputs& inputs, const ForwardOptions& options,
                        run::Backend* backend, Progress& progress) {
    check_options(options, model.config());
    Pass pass(model, inputs, options.edits, options.temperature, backend);
    Collector collector(inputs, options, pass.text());
    ForwardResult result = collector.collect(pass, progress);
    progress.report(1.0F);
    return result;
}

Problem problem_of_layer(const Model& model, const ModelInputs& inputs, const ForwardOptions& options,
                         run::Backend* backend, Progress& progress) {
    const ModelConfig& config = model.config();
    const AttentionPlace place{options.stack.value_or(Stack::own), options.layer.value()};
    check_layer(place.layer, in_stack(config, place.stack).layers);
    require_attention(config, place);
    Pass pass(model, inputs, options.edits, options.temperature, backend);
    const AttentionSourceNodes sources = sources_of_attention(pass.text(), place);
    const run::RunPtr run = pass.run(sources.captures(), progress);
    const std::int64_t n = attention_number(config, place);
    return with_edits(attention_problem(pass.text(), inputs, place, model.layer(n),
                                        sources.of([&](const std::string& node) { return (*run)[node]; })),
                      config, options.edits, n);
}

} // namespace headscope::checkpoint
