#include "core/checkpoint/run/forward.h"

#include "core/base/error.h"
#include "core/checkpoint/run/forward_pass.h"

#include <utility>

namespace headscope::checkpoint {

namespace {

void check_options(const ForwardOptions& options, const Architecture& architecture) {
    if (options.layer && (*options.layer < 0 || *options.layer >= architecture.layers))
        fail_input("there is no layer " + std::to_string(*options.layer) + "; layers are numbered 0 to " +
                   std::to_string(architecture.layers - 1));
}

} // namespace

ForwardResult run_model(const Model& model, const ModelInputs& inputs, const ForwardOptions& options,
                        const RunAttention& attention, Progress& progress) {
    check_options(options, model.architecture());
    const ForwardPass pass(model, inputs);
    check_edits(model, options.edits);
    cpu::CpuDense cpu;
    ForwardResult result;
    const auto attend = [&](std::int64_t l, Problem problem) {
        problem = with_edits(std::move(problem), edits_of(options.edits, l));
        problem.temperature *= options.temperature;
        const bool keep =
            (!options.stages.empty() || options.keep_problems) && (!options.layer || *options.layer == l);
        const StageSet wanted = keep ? options.stages : StageSet();
        Trace trace = attention(problem, wanted.with(TensorId::output), progress);
        TensorPtr output = trace.slot(TensorId::output);
        if (!keep)
            return output;
        if (!wanted.has(TensorId::output))
            trace.slot(TensorId::output) = nullptr;
        result.layers.push_back({l, std::move(trace), std::nullopt});
        if (options.keep_problems)
            result.layers.back().problem = std::move(problem);
        return output;
    };
    progress.check();
    result.hidden.push_back(pass.embed(cpu));
    pass.run_layers(cpu, result.hidden, attend, progress);
    if (options.logits)
        result.logits = pass.logits(cpu, *result.hidden.back(), progress);
    progress.report(1.0F);
    return result;
}

} // namespace headscope::checkpoint
