#include "app/shell/film/films.h"

#include "app/draw/pages/pages.h"
#include "app/draw/panels/guide_texts.h"
#include "app/state/screens/flow.h"
#include "app/state/step_strip.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/trace/stage.h"

#include <utility>
#include <vector>

namespace headscope::app {

namespace {

/// Returns the formula of the stage and the text of the guide.
FilmText text_of_stage(const AppState& state) {
    const GroupInfo& step = group_info(state.view.group);
    FilmText text{.title = tr(step.title)};
    if (state.shown.document->shows_weights())
        return text;
    if (std::string formula = state.shown.attention().formula(step.main); !formula.empty())
        text.paragraphs.push_back(std::move(formula));
    const GuideText guide = guide_text(state.shown, state.view);
    text.paragraphs.insert(text.paragraphs.end(), guide.paragraphs.begin(), guide.paragraphs.end());
    return text;
}

} // namespace

void film_stages(Recorder& recorder, const analysis::ReadingOptions& reading) {
    const StepStrip strip = recorder.state().view.step_strip;
    const std::int64_t layer = recorder.state().view.attention.layer;
    const std::size_t all = strip.before.size() + strip.layer.size() + strip.after.size();
    int filmed = 0;
    analysis::ReadingOptions read{}; // options of the current step
    for (const auto* part : {&strip.before, &strip.layer, &strip.after})
        for (const StageGroup step : *part) {
            std::vector<Action> actions{GoTo{step, -1, layer}};
            // Transformed weights have no stages around them: the options apply only at the weights step.
            const auto wanted = step == StageGroup::weights ? reading : analysis::ReadingOptions{};
            if (wanted != std::exchange(read, wanted))
                actions.insert(wanted == analysis::ReadingOptions{} ? actions.begin() : actions.end(),
                               SetReadingOptions{wanted});
            recorder.act(actions);
            recorder.rest(recorder.look().rest, text_of_stage(recorder.state()));
            recorder.report(++filmed, static_cast<int>(all));
        }
}

void film_flow(Recorder& recorder) {
    if (const std::string why = why_no_flow(*recorder.state().document); !why.empty())
        fail_input(why);
    recorder.act({ShowScreen{Screen::flow}, WaitForReading{false}});
    const AppState& state = recorder.state();
    const FilmText at_rest{.title = tr("common.flow", "Flow")};
    recorder.rest(recorder.look().rest, at_rest);
    if (recorder.shows_motion()) {
        recorder.act({SetFlowTime{0}, TogglePlay{}});
        recorder.rest(recorder.look().rest, at_rest);
        return;
    }
    constexpr float before_end = 0.001F;
    for (int n = 0; n < flow_step_count; ++n) {
        const float end = state.view.flow.story.end(static_cast<FlowStep>(n)) - before_end;
        const FlowSubtitle sentence = flow_subtitle(state.shown, state.view, end);
        recorder.act({SetFlowTime{n + 1 < flow_step_count ? end : state.view.flow.story.duration()}});
        const FilmText text{
            .title = flow_step_name(static_cast<FlowStep>(n), state.shown, state.view),
            .paragraphs = {sentence.text + (sentence.strong.empty() ? "" : " ") + sentence.strong}};
        recorder.rest(recorder.reading_time(text), text);
        recorder.report(n + 1, flow_step_count);
    }
}

} // namespace headscope::app
