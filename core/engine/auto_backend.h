#pragma once

#include "core/run/backend.h"

#include <functional>
#include <memory>
#include <vector>

namespace headscope::engine {

/// Work of one attention, in FLOP, from which `auto` uses a graphics processor. A run on one has about a
/// millisecond of overhead regardless of its size (copies, submissions), and opening it costs more once; a
/// few CPU cores do this much work in about five milliseconds.
inline constexpr double min_gpu_flops = 2e9;

/// Plans large attentions for a graphics processor, if there is one, and everything else for the CPU. If the
/// graphics processor fails, the CPU computes its steps, in this run and in later ones.
class AutoBackend final : public run::Backend {
public:
    /// cpu: computes on the CPU. gpu: creates the backend of the graphics processor, or returns null if there
    /// is none. Called for the first graph with a large attention. May throw Error(machine).
    AutoBackend(std::unique_ptr<run::Backend> cpu, std::function<std::unique_ptr<run::Backend>()> gpu);

    std::string name() const override;
    bool has_failed() const override { return *failed_; }
    std::vector<run::Step> steps_after(std::vector<run::Step> first, const run::Needs& needs) override;
    std::shared_ptr<Tensor> make(const Shape& shape) override { return cpu_->make(shape); }
    void finish() override;
    void release() override;

private:
    run::Backend* gpu();

    std::unique_ptr<run::Backend> cpu_;
    std::function<std::unique_ptr<run::Backend>()> make_gpu_; ///< empty after its only call
    std::unique_ptr<run::Backend> gpu_;
    std::shared_ptr<bool> failed_ = std::make_shared<bool>(false); ///< shared with the kernels
};

} // namespace headscope::engine
