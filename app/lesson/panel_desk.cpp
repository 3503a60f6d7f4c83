#include "app/lesson/panel_desk.h"

#include "core/base/error.h"

namespace headscope::app {

namespace {

void compute(const lesson::LessonPanel& panel, PanelState& state, const Shown& shown,
             std::unique_ptr<engine::Engine>& engine) {
    const std::uint64_t revision = shown.document->revision;
    if (state.shows.index() != 0 && state.revision == revision && state.computed == state.set)
        return;
    if (engine == nullptr)
        engine = engine::make_engine("cpu");
    state.revision = revision;
    state.computed = state.set;
    try {
        state.shows = lesson::compute_panel(panel, state.set, shown.problem(), *engine);
    } catch (const Error& fault) {
        state.shows = std::string(fault.what());
    }
}

} // namespace

void compute_panels(CourseState& course, const Shown& shown, std::unique_ptr<engine::Engine>& engine) {
    const lesson::Step* step = course.step();
    if (step == nullptr)
        return;
    for (const lesson::LessonBlock& block : step->blocks)
        if (const auto* panel = std::get_if<lesson::LessonPanel>(&block))
            compute(*panel, course.panels[panel->line], shown, engine);
}

} // namespace headscope::app
