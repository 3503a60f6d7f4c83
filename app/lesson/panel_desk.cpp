#include "app/lesson/panel_desk.h"

#include "core/base/error.h"

namespace headscope {

namespace {

void compute(const LessonPanel& panel, PanelState& state, const Shown& shown,
             std::unique_ptr<Engine>& engine) {
    const std::uint64_t revision = shown.document->revision;
    if (state.shows.index() != 0 && state.revision == revision && state.computed == state.set)
        return;
    if (engine == nullptr)
        engine = make_engine("cpu");
    state.revision = revision;
    state.computed = state.set;
    try {
        state.shows = compute_panel(panel, state.set, shown.problem(), *engine);
    } catch (const Error& fault) {
        state.shows = std::string(fault.what());
    }
}

} // namespace

void compute_panels(CourseState& course, const Shown& shown, std::unique_ptr<Engine>& engine) {
    const Step* step = course.step();
    if (step == nullptr)
        return;
    for (const LessonBlock& block : step->blocks)
        if (const auto* panel = std::get_if<LessonPanel>(&block))
            compute(*panel, course.panels[panel->line], shown, engine);
}

} // namespace headscope
