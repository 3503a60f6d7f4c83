#include "app/draw/effects/causes_text.h"

#include "app/draw/effects/effects.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

namespace headscope::app {

namespace {

using analysis::GainPrediction;
using analysis::PredictionCause;
using Kind = analysis::Writer::Kind;

std::string chance(float probability) {
    return percent_text(static_cast<double>(probability));
}

ModelHead head_of(const PredictionCause& cause) {
    return {{cause.writer.stack, cause.writer.layer}, cause.writer.head};
}

/// "Without this head the model says “John” (84 %)."
std::string without_head(const CausesView& view, const GainPrediction& without) {
    const checkpoint::TokenChance& first = without.likeliest.front();
    return first.id == view.causes.question.token
               ? tr("causes_text.without_still", "Without this head the model still says “{}” ({}).",
                    view.word(first.id), chance(first.probability))
               : tr("causes_text.without_says", "Without this head the model says “{}” ({}).",
                    view.word(first.id), chance(first.probability));
}

/// The first sentence for a head with the largest part, or the second one after another component.
std::string head_sentence(const CausesView& view, const PredictionCause& head, bool first) {
    const std::string name = component_name(head.writer), read = view.attended(head),
                      weight = chance(head.key < 0 ? 0 : head.weights[static_cast<std::size_t>(head.key)]),
                      adds = signed_number(head.value, 2);
    const std::string& word = view.word(view.causes.question.token);
    const std::string& rival = view.word(view.causes.question.against);
    return first ? tr("causes_text.mostly_head",
                      "Mostly {}: at “{}” it attends to “{}” ({}) and adds {} to “{}” over “{}”.", name,
                      view.at, read, weight, adds, word, rival)
                 : tr("causes_text.largest_head",
                      "Of the heads, {} adds most: at “{}” it attends to “{}” ({}) and adds {}.", name,
                      view.at, read, weight, adds);
}

std::string off_sentence(const CausesView& view) {
    const CausesView::Off& off = *view.off;
    const analysis::PredictionCauses& before = view.causes;
    const std::string& word = view.word(before.question.token);
    const std::string& rival = view.word(before.question.against);
    const double change = off.now.difference - before.capped;
    const std::string moves = tr("causes_text.before_now", "“{}”: {} → {}. “{}”: {} → {}.", word,
                                 chance(before.likeliest[0].probability), chance(off.now.chances[0]), rival,
                                 chance(before.likeliest[1].probability), chance(off.now.chances[1]));
    return moves + " " +
           (change <= 0
                ? tr("causes_text.measured_falls",
                     "The head's direct part was {}. Measured, “{}” over “{}” falls by {}, because later "
                     "layers and the final norm react.",
                     signed_number(off.direct, 2), word, rival, number(-change, 2))
                : tr("causes_text.measured_rises",
                     "The head's direct part was {}. Measured, “{}” over “{}” rises by {}, because later "
                     "layers and the final norm react.",
                     signed_number(off.direct, 2), word, rival, number(change, 2)));
}

} // namespace

std::string head_name(const ModelHead& head) {
    return component_name(
        {.kind = Kind::head, .stack = head.place.stack, .layer = head.place.layer, .head = head.head});
}

std::string causes_title(const CausesView& view) {
    if (view.off)
        return tr("causes_text.without_title", "Without {} the model says “{}”", head_name(view.off->head),
                  view.word(view.off->now.likeliest.front().id));
    return tr("causes_text.why_title", "Why “{}”?", view.word(view.causes.question.token));
}

std::string causes_sentence(const CausesView& view) {
    if (view.off)
        return off_sentence(view);
    const analysis::PredictionCauses& causes = view.causes;
    const std::string& word = view.word(causes.question.token);
    const std::string& rival = view.word(causes.question.against);
    if (causes.largest.empty() || causes.largest.front().value <= 0)
        return tr("causes_text.no_cause", "No head, MLP or embedding raises “{}” over “{}”; only biases do.",
                  word, rival);
    const PredictionCause& first = causes.largest.front();
    if (first.writer.kind == Kind::head)
        return head_sentence(view, first, true) + " " + without_head(view, *causes.without);
    const std::string adds = signed_number(first.value, 2);
    const std::string opening =
        first.writer.kind == Kind::mlp || first.writer.kind == Kind::delta
            ? tr("causes_text.mostly_mlp", "Mostly {}: at “{}” it adds {} to “{}” over “{}”.",
                 component_name(first.writer), view.at, adds, word, rival)
            : tr("causes_text.mostly_embedding",
                 "Mostly the embedding of “{}” itself: it adds {} to “{}” over “{}”.", view.at, adds, word,
                 rival);
    return causes.head ? opening + " " + head_sentence(view, *causes.head, false) + " " +
                             without_head(view, *causes.without)
                       : opening;
}

std::string cause_detail(const CausesView& view, const PredictionCause& cause) {
    if (cause.key < 0)
        return {};
    return tr("causes_text.attends_to", "attends to “{}”, {}", view.attended(cause),
              chance(cause.weights[static_cast<std::size_t>(cause.key)]));
}

std::string causes_pair(const CausesView& view) {
    return tr("causes_text.pair", "“{}” over “{}”", view.word(view.causes.question.token),
              view.word(view.causes.question.against));
}

std::optional<HeadSwitch> head_switch(const CausesView& view) {
    if (view.off)
        return HeadSwitch{view.off->head, 1};
    if (!view.causes.head)
        return std::nullopt;
    return HeadSwitch{head_of(*view.causes.head), 0};
}

} // namespace headscope::app
