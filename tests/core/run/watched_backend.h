#pragma once

#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace headscope::test {

/// The CPU's backend with one thread. Calls a function after each of its kernels, which may change the
/// numbers of the kernel's nodes.
class WatchedBackend final : public run::Backend {
public:
    using Watch = std::function<void(const std::vector<run::NodeId>& nodes, run::Values&, Progress&)>;
    explicit WatchedBackend(Watch watch) : watch_(std::move(watch)) {}

    std::string name() const override { return cpu_.name(); }
    std::vector<run::Step> steps_after(std::vector<run::Step> first, const run::Needs& needs) override {
        std::vector<run::Step> steps = cpu_.steps_after(std::move(first), needs);
        for (run::Step& step : steps)
            step.kernel = std::make_unique<WatchedKernel>(step.nodes, std::move(step.kernel), watch_);
        return steps;
    }
    std::shared_ptr<Tensor> make(const Shape& shape) override { return cpu_.make(shape); }

private:
    class WatchedKernel final : public run::Kernel {
    public:
        WatchedKernel(std::vector<run::NodeId> nodes, std::unique_ptr<const run::Kernel> kernel, Watch watch)
            : nodes_(std::move(nodes)), kernel_(std::move(kernel)), watch_(std::move(watch)) {}
        void compute(run::Values& values, Progress& progress) const override {
            kernel_->compute(values, progress);
            watch_(nodes_, values, progress);
        }

    private:
        std::vector<run::NodeId> nodes_;
        std::unique_ptr<const run::Kernel> kernel_;
        Watch watch_;
    };

    cpu::CpuBackend cpu_{cpu::make_cpu_machine(1)};
    Watch watch_;
};

} // namespace headscope::test
