#include "core/analysis/effects/logit_attribution.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/logit_direction.h"
#include "core/analysis/effects/rows.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/tensor/views.h"

#include <string>
#include <utility>

namespace headscope::analysis {

using checkpoint::Model;
using From = LogitQuestion::From;

void require_logit(const checkpoint::ModelRun& run, const LogitQuestion& question) {
    const checkpoint::ModelConfig& a = run.model().config();
    if (!run.model().has_head())
        fail_input(tr("common.no_language_model_head",
                      "{} has no language-model head, so there are no logits; open a checkpoint that was "
                      "saved with its head",
                      run.model().path()));
    require_number(question.position, run.inputs().T, Numbered::position);
    require_number(question.token, a.vocab, Numbered::token);
    if (question.from == From::token)
        require_number(question.against, a.vocab, Numbered::token);
}

LogitAttribution logit_attribution(const checkpoint::ModelRun& run, const LogitQuestion& question,
                                   const Progress& cancel) {
    require_logit(run, question);
    const Model& model = run.model();
    const checkpoint::ModelConfig& a = model.config();
    require_one_stream(model);
    checkpoint::require_finite_logits(run.logits_at(question.position, cancel)->values(), question.position);
    const StreamWriters stream(run, question.position, attention_count(a), question.sources, cancel);
    const TableReading table = table_reading(model, run.edits(), question);
    const Tensor left(Shape{1, 1, a.D}, stream.stream());
    LogitDirections directions(run);
    const LogitDirection towards = directions.of(table, left, cancel);
    LogitAttribution out;
    out.logit = table.of(*towards.head_in);
    out.capped = out.logit;
    if (model.stages().logit_cap() != 0.0) {
        const TensorPtr logits = directions.logits(left, cancel);
        const auto at = [&](std::int64_t id) { return static_cast<double>(logits->data()[id]); };
        out.capped = at(question.token) - (question.from == From::zero ? 0.0
                                           : question.from == From::token
                                               ? at(question.against)
                                               : ConstNumbers(logits->data(), a.vocab).cast<double>().mean());
    }
    const Tensor values = stream.along(towards.direction);
    std::vector<std::vector<float>> sources(stream.writers().size());
    if (question.sources)
        sources = stream.by_source(towards.direction);
    for (std::size_t n = 0; n < stream.writers().size(); ++n)
        out.parts.push_back(
            {stream.writers()[n], static_cast<double>(values.data()[n]), std::move(sources[n])});
    if (towards.final_bias)
        out.parts.push_back({{.kind = Writer::Kind::final_norm_bias}, *towards.final_bias, {}});
    if (towards.bias != 0.0)
        out.parts.push_back({{.kind = Writer::Kind::head_bias}, towards.bias, {}});
    return out;
}

} // namespace headscope::analysis
