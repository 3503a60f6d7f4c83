#include "app/state/screens/probed_heads.h"

#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"

namespace headscope::app {

std::vector<std::vector<analysis::HeadMetrics>> probed_heads(const checkpoint::TextModel& model,
                                                             const checkpoint::ModelRun& run,
                                                             const analysis::ProbeOptions& options,
                                                             Progress& progress) {
    cpu::CpuBackend backend(cpu::make_cpu_machine());
    std::vector<std::vector<analysis::MeasuredHead>> texts;
    const checkpoint::ForwardOptions forward{.stages = StageSet().with(TensorId::weights),
                                             .stack = checkpoint::Stack::own,
                                             .logits = false,
                                             .edits = run.edits()};
    const auto all = analysis::probe_texts(model, options);
    for (std::size_t text = 0; text < all.size(); ++text) {
        const auto share = [&](std::size_t done) {
            return static_cast<float>(done) / static_cast<float>(all.size());
        };
        progress.set_part(share(text), share(text + 1));
        texts.push_back(analysis::text_heads(model, checkpoint::token_inputs(model, all[text]),
                                             options.length, forward, &backend, progress));
        progress.set_part(share(text + 1), share(text + 1));
        progress.report(1);
    }
    std::vector<std::vector<analysis::HeadMetrics>> heads(
        static_cast<std::size_t>(run.model().config().layers)); // empty for layers without attention
    for (const analysis::MeasuredHead& head : analysis::mean_heads(texts))
        heads[static_cast<std::size_t>(head.layer)].push_back(head.metrics);
    return heads;
}

} // namespace headscope::app
