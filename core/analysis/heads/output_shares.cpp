#include "core/analysis/heads/output_shares.h"

#include "core/analysis/heads/head_metrics.h"
#include "core/engine/cpu/cpu_engine.h"

namespace headscope::analysis {

std::vector<std::vector<double>> output_shares(const checkpoint::ModelRun& run, checkpoint::Stack stack,
                                               Progress& progress) {
    const checkpoint::ModelConfig& config = run.model().config();
    const std::int64_t L = in_stack(config, stack).layers;
    cpu::CpuEngine engine;
    std::vector<std::vector<double>> shares;
    for (std::int64_t l = 0; l < L; ++l) {
        if (!has_attention(config, {stack, l})) {
            shares.emplace_back(static_cast<std::size_t>(config.H), 0.0);
            continue;
        }
        const std::int64_t n = attention_number(config, {stack, l});
        const Trace trace =
            static_cast<engine::Engine&>(engine).run(with_edits(run.problem(n), config, run.edits(), n),
                                                     StageSet().with(TensorId::contributions), progress);
        std::vector<HeadMetrics> heads(static_cast<std::size_t>(trace.dims.H));
        for (std::int64_t h = 0; h < trace.dims.H; ++h)
            heads[static_cast<std::size_t>(h)].output_norm = norm_of_contribution(trace, 0, h);
        set_shares(heads);
        std::vector<double>& layer = shares.emplace_back();
        for (const HeadMetrics& head : heads)
            layer.push_back(static_cast<double>(head[HeadScore::share]));
    }
    return shares;
}

} // namespace headscope::analysis
