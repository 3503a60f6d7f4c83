#include "core/analysis/effects/prediction_causes.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/rows.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/graph_runs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace headscope::analysis {

namespace {

using Kind = Writer::Kind;

constexpr std::size_t listed_causes = 3;

/// Returns true for components that can be a cause; biases do not depend on the text.
bool may_be_cause(const Writer& writer) {
    return writer.kind == Kind::head || writer.kind == Kind::mlp || writer.kind == Kind::delta ||
           writer.kind == Kind::embedding || writer.kind == Kind::position;
}

/// The attention weights of a head at the position, and the key with the largest one.
PredictionCause cause_of(const checkpoint::ModelRun& run, const LogitPart& part, std::int64_t position,
                         const Progress& cancel) {
    PredictionCause cause{.writer = part.writer, .value = part.value};
    if (part.writer.kind != Kind::head)
        return cause;
    const std::int64_t n = attention_number(run.model().config(), {part.writer.stack, part.writer.layer});
    const TensorPtr rows = run.rows(n, position, 1, cancel);
    const auto Tk = static_cast<std::size_t>(rows->shape()[3]);
    const auto row =
        rows->values().subspan(static_cast<std::size_t>(rows->offset(0, part.writer.head, 0, 0)), Tk);
    cause.weights.assign(row.begin(), row.end());
    cause.key = std::ranges::max_element(row) - row.begin();
    return cause;
}

/// The components that can be causes: the largest positive one, then by absolute value.
std::vector<const LogitPart*> ordered_causes(const LogitAttribution& all) {
    std::vector<const LogitPart*> parts;
    for (const LogitPart& part : all.parts)
        if (may_be_cause(part.writer) && part.value != 0)
            parts.push_back(&part);
    std::ranges::stable_sort(parts, std::ranges::greater{},
                             [](const LogitPart* part) { return std::abs(part->value); });
    const auto first = std::ranges::find_if(parts, [](const LogitPart* part) { return part->value > 0; });
    if (first != parts.end())
        std::rotate(parts.begin(), first, first + 1);
    return parts;
}

} // namespace

GainPrediction prediction_with_gain(const checkpoint::ModelRun& run, checkpoint::AttentionPlace place,
                                    std::int64_t head, float gain, std::int64_t position,
                                    const std::vector<std::int64_t>& tokens, std::size_t count,
                                    const Progress& cancel) {
    const checkpoint::ModelConfig& a = run.model().config();
    require_number(position, run.inputs().T, Numbered::position);
    require_number(place.layer, in_stack(a, place.stack).layers, Numbered::layer);
    require_number(head, in_stack(a, place.stack).H, Numbered::head);
    require_attention(a, place);
    for (const std::int64_t token : tokens)
        require_number(token, a.vocab, Numbered::token);
    checkpoint::GraphRuns runs(run.text(), run.edits(), std::make_shared<checkpoint::Workshop>());
    const graph::Part logits{"logits", {{runs.graph()["logits"].axes[1].name, {position, 1}}}};
    const run::Intervention of_gain{.part = {layer_prefix(a, place) + "gain", {{"H", {head, 1}}}},
                                    .values = std::make_shared<const Tensor>(Shape{}, gain)};
    Progress progress{Progress::CancelledWith{cancel}};
    const run::RunPtr after = runs.run({logits}, {of_gain}, run.kept(), progress);
    const TensorPtr kept = after->part(logits);
    const std::span<const float> values = kept->values();
    checkpoint::require_finite_logits(values, position);
    GainPrediction out{.likeliest = checkpoint::likeliest(values, count),
                       .chances = checkpoint::chances_of(values, tokens)};
    if (tokens.size() >= 2)
        out.difference = static_cast<double>(values[static_cast<std::size_t>(tokens[0])]) -
                         static_cast<double>(values[static_cast<std::size_t>(tokens[1])]);
    return out;
}

PredictionCauses prediction_causes(const checkpoint::ModelRun& run, std::int64_t position, std::size_t count,
                                   const Progress& cancel) {
    require_logit(run, {.position = position});
    require_one_stream(run.model());
    PredictionCauses out;
    const TensorPtr logits = run.logits_at(position, cancel);
    checkpoint::require_finite_logits(logits->values(), position);
    out.likeliest = checkpoint::likeliest(logits->values(), std::max<std::size_t>(count, 2));
    if (out.likeliest.size() < 2)
        fail_input(tr("prediction_causes.vocabulary_one_token",
                      "the vocabulary of {} has one token, so there is no other prediction to compare with",
                      run.model().path()));
    out.question = question_of(position, out.likeliest[0].id, out.likeliest[1].id);
    LogitAttribution all = logit_attribution(run, out.question, cancel);
    out.difference = all.logit;
    out.capped = all.capped;
    const std::vector<const LogitPart*> parts = ordered_causes(all);
    out.rest = all.logit;
    for (std::size_t n = 0; n < std::min(parts.size(), listed_causes); ++n) {
        out.largest.push_back(cause_of(run, *parts[n], position, cancel));
        out.rest -= parts[n]->value;
    }
    const LogitPart* head = nullptr;
    for (const LogitPart* const part : parts)
        if (part->writer.kind == Kind::head && part->value > (head == nullptr ? 0 : head->value))
            head = part;
    if (head != nullptr) {
        out.head = cause_of(run, *head, position, cancel);
        out.without =
            prediction_with_gain(run, {head->writer.stack, head->writer.layer}, head->writer.head, 0,
                                 position, {out.question.token, out.question.against}, count, cancel);
    }
    out.parts = std::move(all.parts);
    return out;
}

} // namespace headscope::analysis
