#include "core/engine/auto_engine.h"

#include "core/attention/cost.h"
#include "core/base/memory.h"

#include <utility>

namespace headscope::engine {

AutoEngine::AutoEngine(std::unique_ptr<Engine> cpu, std::function<std::unique_ptr<Engine>()> gpu)
    : cpu_(std::move(cpu)), make_gpu_(std::move(gpu)), used_(cpu_.get()) {}

/// Returns null if there is no working graphics processor.
Engine* AutoEngine::gpu() {
    if (const auto make = std::exchange(make_gpu_, nullptr))
        try {
            gpu_ = make();
        } catch (const Error&) {
            gpu_ = nullptr; // falls back to the CPU
        }
    return gpu_.get();
}

std::optional<Trace> AutoEngine::run_large(const Problem& problem, StageSet wanted, Progress& progress) {
    // Graphics processors have no kernel for gates, scaled queries, norms of values, masks of chunks and
    // terms by relative position.
    const ProblemParts parts = problem.parts();
    const bool has_kernels = !parts.gated && !parts.query_scale && !parts.value_norm && !problem.relative &&
                             !has_rule<ChunkedCausalMask>(problem.mask);
    const bool large =
        has_kernels && static_cast<double>(cost_of(problem.dims, false).flops()) >= min_gpu_flops;
    Engine* const fast = large ? gpu() : nullptr;
    used_ = cpu_.get();
    if (fast == nullptr)
        return std::nullopt;
    try {
        Trace trace = fast->run(problem, wanted, progress);
        used_ = fast;
        return trace;
    } catch (const MemoryShortage&) {
        throw; // the CPU would store the same stages
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::machine)
            throw;
        gpu_.reset();
    }
    return std::nullopt;
}

Trace AutoEngine::run(const Problem& problem, StageSet wanted, Progress& progress) {
    if (std::optional<Trace> trace = run_large(problem, wanted, progress))
        return std::move(*trace);
    return cpu_->run(problem, wanted, progress);
}

Trace AutoEngine::rerun(const Problem& problem, const Problem& before, const Trace& previous,
                        Progress& progress) {
    if (std::optional<Trace> trace = run_large(problem, StageSet::all(), progress))
        return std::move(*trace);
    return previous.device == cpu_->name() ? cpu_->rerun(problem, before, previous, progress)
                                           : cpu_->run(problem, StageSet::all(), progress);
}

} // namespace headscope::engine
