#include "app/state/screens/flow.h"

#include "app/state/model_document.h"
#include "app/state/screens/model_story.h"
#include "app/state/screens/screen.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// The numbers of one query row of a head.
struct FlowRow {
    const Shown& shown;
    std::int64_t batch, head, word;

    float at(TensorId id, std::int64_t key) const { return shown.value({id, {batch, head, word, key}}); }
    std::int64_t largest(TensorId id, std::int64_t end) const {
        std::int64_t best = 0;
        for (std::int64_t key = 1; key < end; ++key)
            if (at(id, key) > at(id, best))
                best = key;
        return best;
    }
};

FlowRow flow_row_of(const Shown& shown, const ViewState& view) {
    return {shown, view.batch, view.head, flow_word(view.flow, shown.dims().Tq)};
}

std::string flow_decimals(float value) {
    const std::string text = fmt::format("{:.2f}", std::abs(value) < 0.005F ? 0.0F : value);
    return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::string flow_percent(float weight) {
    return fmt::format("{} %", std::lround(100 * weight));
}

} // namespace

std::string why_no_flow(const Document& document) {
    if (document.is_given())
        return tr("flow.needs_vectors",
                  "The Flow needs the vectors of the words; this file has only weights.");
    if (document.is_checkpoint())
        return why_no_model_flow(document);
    if (document.problem.parts().gated)
        return tr("flow.gated",
                  "The Flow does not show gates on head outputs, which this problem has: choose Stages.");
    if (document.problem.relative)
        return tr("flow.relative_terms", "The Flow does not show terms of the scores by relative position, "
                                         "which this problem has: choose Stages.");
    const Dims& dims = document.problem.dims;
    return document.is_long() || dims.Tq > most_flow_words || dims.Tk > most_flow_keys
               ? tr("flow.too_many_words", "The Flow is drawn for up to {} words; this text has {}.",
                    most_flow_words, std::max(dims.Tq, dims.Tk))
               : "";
}

std::string flow_step_name(FlowStep step, const Shown& shown, const ViewState& view) {
    if (shown.document->is_checkpoint())
        return model_flow_step_name(step, shown.document->part()->config().layers, view.attention.layer);
    switch (step) {
    case FlowStep::query:
        return tr("flow.step_query", "query");
    case FlowStep::compare:
        return tr("flow.step_compare", "compare");
    case FlowStep::scale:
        return tr("flow.step_scale", "scale");
    case FlowStep::softmax:
        return "softmax";
    case FlowStep::mix:
        return tr("flow.step_mix", "mix values");
    case FlowStep::write:
        return tr("flow.step_write", "write");
    case FlowStep::join:
        return tr("flow.step_join", "join, W_O");
    }
    return {};
}

FlowSubtitle flow_subtitle(const Shown& shown, const ViewState& view, float time) {
    if (shown.document->is_checkpoint())
        return model_flow_subtitle(shown, view, time);
    const FlowRow row = flow_row_of(shown, view);
    const Dims& dims = shown.dims();
    const FlowStory& story = view.flow.story;
    const Problem& problem = shown.problem();
    const std::string word = problem.query_label(row.word);
    const bool reads_nothing = std::ranges::any_of(shown.trace->fully_masked, [&](const MaskedRow& masked) {
        return masked == MaskedRow{row.batch, row.head, row.word};
    });
    const std::int64_t best = row.largest(TensorId::weights, dims.Tk);
    const std::string best_word = problem.key_label(best),
                      best_weight = flow_percent(row.at(TensorId::weights, best));
    switch (story.step_at(time)) {
    case FlowStep::query:
        return {tr("flow.asks", "“{}” asks: its row of X times W_Q is its", word),
                tr("flow.asks_query", "query.")};
    case FlowStep::compare: {
        std::int64_t met = 1;
        while (met < dims.Tk && story.compared(static_cast<std::size_t>(met), time) > 0)
            ++met;
        const std::int64_t highest = row.largest(TensorId::scores, met);
        return {tr("flow.meets_each_key", "Number by number, the query of “{}” meets each key:", word),
                tr("flow.scores_number", "“{}” scores {}.", problem.key_label(highest),
                   flow_decimals(row.at(TensorId::scores, highest)))};
    }
    case FlowStep::scale:
        return {problem.mask.empty()
                    ? tr("flow.divided", "Scores are divided by √{}, so that softmax stays soft.", dims.dk)
                    : tr("flow.divided_masked",
                         "Scores are divided by √{}; keys that the mask forbids drop out.", dims.dk),
                ""};
    case FlowStep::softmax:
        if (reads_nothing)
            return {tr("flow.reads_nothing", "“{}” may attend to no key: all of its weights are 0.", word),
                    ""};
        return {tr_n("flow.softmax_turns", "Softmax turns {} score into a weight of 100 %:",
                     "Softmax turns {} scores into weights that add up to 100 %:", dims.Tk, dims.Tk),
                tr("flow.gets_percent", "“{}” gets {}.", best_word, best_weight)};
    case FlowStep::mix:
        if (reads_nothing)
            return {tr("flow.no_value_flows", "No value flows in: “{}” receives zeros.", word), ""};
        return {
            tr("flow.flows_by_weight", "Each value flows in by its weight:"),
            tr("flow.percent_received", "{} of what “{}” receives is “{}”.", best_weight, word, best_word)};
    case FlowStep::write:
        return {problem.gain(row.head) == 0.0F
                    ? tr("flow.found_but_off", "This is what head {} found for “{}”; the head is off.",
                         row.head, word)
                    : tr("flow.found", "This is what head {} found for “{}”.", row.head, word),
                ""};
    case FlowStep::join:
        return {tr_n("flow.mixes_heads",
                     "W_O mixes the numbers of the head:", "W_O mixes the {} heads:", dims.H, dims.H),
                tr("flow.new_word", "the new “{}”.", word)};
    }
    return {};
}

void follow_flow(const Shown& shown, ViewState& view) {
    FlowView& flow = view.flow;
    flow.on_screen = screen_of(shown, view) == Screen::flow && shown.trace != nullptr &&
                     why_no_flow(*shown.document).empty();
    if (!flow.on_screen) {
        flow.story = {};
        flow.edited.reset();
        return;
    }
    if (shown.document->is_checkpoint()) {
        const std::int64_t L = shown.document->part()->config().layers;
        flow.story = model_flow_story(L, std::clamp<std::int64_t>(view.attention.layer, 0, L - 1));
    } else {
        const FlowRow row = flow_row_of(shown, view);
        std::vector<float> weights;
        for (std::int64_t key = 0; key < shown.dims().Tk; ++key)
            weights.push_back(row.at(TensorId::weights, key));
        flow.story = flow_story(weights);
    }
    flow.time = std::clamp(flow.time, 0.0F, flow.story.duration());
    for (int step = 0; step < flow_step_count; ++step) {
        const float end = flow.story.starts[static_cast<std::size_t>(step) + 1] - 0.001F;
        const FlowSubtitle sentence = flow_subtitle(shown, view, end);
        flow.characters[static_cast<std::size_t>(step)] =
            static_cast<int>(sentence.text.size() + sentence.strong.size());
    }
}

} // namespace headscope::app
