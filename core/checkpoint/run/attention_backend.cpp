#include "core/checkpoint/run/attention_backend.h"

#include "core/base/error.h"
#include "core/checkpoint/run/attention_problem.h"
#include "core/graph/labels.h"

#include <cmath>
#include <optional>
#include <utility>

namespace headscope::checkpoint {

namespace {

/// A tensor of the stage table and the node that has its numbers.
struct TensorNode {
    TensorId id;
    run::NodeId node;
};

/// Makes the problem from the numbers of the nodes that an attention reads, and hands it to an engine.
class EngineKernel final : public run::Kernel {
public:
    struct Attention {
        Problem problem; ///< without tensors of `inputs`
        std::string words;
        std::vector<TensorNode> inputs{}, stages{};
        run::NodeId weights = -1, gain = -1;
    };
    EngineKernel(Attention attention, const RunAttention& run, std::string& device)
        : a_(std::move(attention)), run_(run), device_(device) {}

    void compute(run::Values& values, Progress& progress) const override {
        Problem problem = a_.problem;
        for (const TensorNode& input : a_.inputs)
            *problem.input_slot(input.id) = values.owner(input.node);
        const Tensor& gains = values[a_.gain];
        if (std::ranges::any_of(gains.values(), [](float gain) { return gain != 1.0F; }))
            problem.gains.assign(gains.values().begin(), gains.values().end());
        StageSet wanted;
        for (const TensorNode& stage : a_.stages)
            if (values.out(stage.node) != nullptr)
                wanted = wanted.with(stage.id);
        const Trace trace = run_part(problem, wanted, values, progress);
        for (const TensorNode& stage : a_.stages)
            if (Tensor* const out = values.out(stage.node); out != nullptr)
                std::ranges::copy(trace.stage(stage.id)->values(), out->data());
        for (const MaskedRow& row : trace.fully_masked)
            values.empty_rows.push_back({a_.weights, row.b, row.h, row.i});
        device_ = trace.device;
    }

private:
    /// The engine reports the progress of this part of the run.
    Trace run_part(const Problem& problem, StageSet wanted, const run::Values& values,
                   Progress& progress) const {
        const Progress::Part whole = progress.part();
        progress.set_part(std::lerp(whole.from, whole.to, values.progress_begin),
                          std::lerp(whole.from, whole.to, values.progress_end));
        try {
            Trace trace = run_(problem, wanted, progress);
            progress.set_part(whole.from, whole.to);
            return trace;
        } catch (const Error& fault) {
            progress.set_part(whole.from, whole.to);
            if (fault.kind() != ErrorKind::input)
                throw;
            fail_input(a_.words + ": " + fault.what());
        }
    }

    Attention a_;
    const RunAttention& run_;
    std::string& device_;
};

} // namespace

void AttentionBackend::add_attention(AttentionPlace place, const run::Needs& needs,
                                     std::vector<run::Step>& steps) {
    const ModelConfig& config = text_.model()->config();
    const std::string prefix = layer_prefix(config, place);
    const auto find = [&](std::string_view name) {
        return text_.graph().try_find(prefix + std::string(name));
    };
    const run::NodeId output = text_.graph().find(prefix + "output");
    EngineKernel::Attention attention{.problem = attention_problem(text_, inputs_, place, WeightSet(), {}),
                                      .words = attention_words(config, place)};
    std::vector<run::NodeId> nodes;
    for (const TensorInfo& row : stage_table()) {
        const auto node = find(row.name);
        if (!node || row.id == TensorId::x || !needs.is_computed(*node))
            continue;
        if (needs.is_intervened(*node) && *node != output)
            return;
        if (row.id == TensorId::gate) { // with its columns, which are no stage, the step reads their weights
            const run::NodeId columns = *find(graph::labels::gate_columns.name);
            if (needs.is_stored(columns))
                return;
            nodes.push_back(columns);
        }
        attention.stages.push_back({row.id, *node});
        nodes.push_back(*node);
    }
    if (nodes.empty())
        return;
    for (const TensorInfo& row : input_table())
        if (const auto node = find(row.name); node && attention.problem.input_slot(row.id) != nullptr)
            attention.inputs.push_back({row.id, *node});
    attention.inputs.push_back({TensorId::x, text_.graph().find(prefix + "x")});
    attention.weights = text_.graph().find(prefix + "weights");
    attention.gain = text_.graph().find(prefix + "gain");
    steps.push_back({.nodes = std::move(nodes),
                     .kernel = std::make_unique<EngineKernel>(std::move(attention), attention_, device_)});
}

std::vector<run::Step> AttentionBackend::steps(const run::Needs& needs) {
    std::vector<run::Step> steps;
    const ModelConfig& config = text_.model()->config();
    for (std::int64_t n = 0; attention_ && n < attention_count(config); ++n)
        if (const AttentionPlace place = attention_place(config, n); has_attention(config, place))
            add_attention(place, needs, steps);
    return cpu_.steps_after(std::move(steps), needs);
}

} // namespace headscope::checkpoint
