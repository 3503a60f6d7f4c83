#include "core/analysis/effects/logit_lens.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/rows.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/checkpoint/run/from_rows.h"

#include <algorithm>

namespace headscope::analysis {

namespace {

/// Positions whose logits are in memory together.
constexpr std::size_t at_once = 32;

} // namespace

LogitLens logit_lens(const checkpoint::ModelRun& run, std::span<const std::int64_t> positions,
                     std::size_t top, Progress& progress) {
    const checkpoint::ModelConfig& a = run.model().config();
    require_one_stream(run.model());
    if (!run.model().has_head())
        fail_input(tr("logit_lens.no_language_model_head",
                      "{} has no language-model head, so there are no predictions; open a checkpoint that "
                      "was saved with its head",
                      run.model().path()));
    for (const std::int64_t position : positions)
        require_number(position, run.inputs().T, Numbered::position);
    const auto workshop = std::make_shared<checkpoint::Workshop>();
    const auto end = [&](const std::string& from) {
        return checkpoint::FromRows(run.text(), run.edits(), from, {"logits"}, workshop);
    };
    checkpoint::FromRows from_stream = end(checkpoint::last_stream_node(*run.text())),
                         from_hidden = end(checkpoint::last_hidden_node(*run.text()));
    LogitLens lens{{positions.begin(), positions.end()}, {}};
    for (std::int64_t l = 0; l <= a.layers; ++l) {
        progress.check();
        const Tensor& hidden = *run.hidden(l);
        checkpoint::FromRows& rest = l == a.layers ? from_hidden : from_stream;
        auto& rows = lens.layers.emplace_back();
        for (std::size_t first = 0; first < positions.size(); first += at_once) {
            const auto part = positions.subspan(first, std::min(at_once, positions.size() - first));
            const auto x = std::make_shared<Tensor>(Shape{1, std::ssize(part), a.D});
            for (std::size_t n = 0; n < part.size(); ++n)
                std::ranges::copy(row_of(hidden, part[n]), x->data() + static_cast<std::int64_t>(n) * a.D);
            Progress inner{Progress::CancelledWith{progress}};
            const TensorPtr logits = rest.of(x, inner).at("logits");
            for (std::size_t n = 0; n < part.size(); ++n) {
                const auto after = logits->values().subspan(n * static_cast<std::size_t>(a.vocab),
                                                            static_cast<std::size_t>(a.vocab));
                checkpoint::require_finite_logits(after, part[n]);
                rows.push_back(checkpoint::likeliest(after, top));
            }
        }
        progress.report(static_cast<float>(l + 1) / static_cast<float>(a.layers + 1));
    }
    return lens;
}

} // namespace headscope::analysis
