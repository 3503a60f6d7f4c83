#pragma once

#include "core/attention/problem.h"
#include "core/checkpoint/graph/text_graph.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/trace/trace.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// Computes the wanted stages of one attention problem: an engine's run, usually. Called once per layer.
using RunAttention = std::function<Trace(const Problem&, StageSet, Progress&)>;

/// Computes each attention of a model with `attention`, and what stands around it on the CPU. An attention
/// with an intervention on one of its stages is the CPU's as a whole.
class AttentionBackend final : public run::Backend {
public:
    /// All must outlive the backend and its plans.
    AttentionBackend(const TextGraph& text, const ModelInputs& inputs, const RunAttention& attention)
        : text_(text), inputs_(inputs), attention_(attention) {}

    std::string name() const override { return "attention"; }
    std::vector<run::Step> steps(const run::Needs& needs) override;
    std::shared_ptr<Tensor> make(const Shape& shape) override { return cpu_.make(shape); }
    void finish() override { cpu_.finish(); }
    void release() override { cpu_.release(); }
    /// The device that `attention` named last; "cpu" before it did.
    const std::string& device() const { return device_; }

private:
    void add_attention(AttentionPlace place, const run::Needs& needs, std::vector<run::Step>& steps);

    const TextGraph& text_;
    const ModelInputs& inputs_;
    const RunAttention& attention_;
    cpu::CpuBackend cpu_{cpu::make_cpu_machine()};
    std::string device_ = "cpu";
};

} // namespace headscope::checkpoint
