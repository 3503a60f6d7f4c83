#include "app/shell/film/films.h"

#include "app/draw/pages/pages.h"
#include "app/draw/panels/guide_texts.h"
#include "app/state/step_strip.h"
#include "core/base/message.h"
#include "core/trace/stage.h"

#include <utility>
#include <vector>

namespace headscope::app {

namespace {

/// Returns the formula of the stage and the text of the guide.
FilmText text_of_stage(const AppState& state) {
    const GroupInfo& stop = group_info(state.view.group);
    FilmText text{.title = tr(stop.title)};
    if (state.shown.document->shows_weights())
        return text;
    if (is_stage(stop.main))
        text.paragraphs.push_back(page_formula(state.shown, stop.main));
    const GuideText guide = guide_text(state.shown, state.view);
    text.paragraphs.insert(text.paragraphs.end(), guide.paragraphs.begin(), guide.paragraphs.end());
    return text;
}

} // namespace

void film_stages(Recorder& recorder, const analysis::ReadingOptions& reading) {
    const StepStrip walk = recorder.state().view.walk;
    const std::int64_t layer = recorder.state().view.attention.layer;
    const std::size_t all = walk.before.size() + walk.layer.size() + walk.after.size();
    int filmed = 0;
    analysis::ReadingOptions read{}; // options of the current step
    for (const auto* part : {&walk.before, &walk.layer, &walk.after})
        for (const StageGroup stop : *part) {
            std::vector<Action> actions{GoTo{stop, -1, layer}};
            // Transformed weights have no stages around them: the options apply only at the weights step.
            const auto wanted = stop == StageGroup::weights ? reading : analysis::ReadingOptions{};
            if (wanted != std::exchange(read, wanted))
                actions.insert(wanted == analysis::ReadingOptions{} ? actions.begin() : actions.end(),
                               SetReadingOptions{wanted});
            recorder.act(actions);
            recorder.rest(recorder.look().rest, text_of_stage(recorder.state()));
            recorder.report(++filmed, static_cast<int>(all));
        }
}

} // namespace headscope::app
