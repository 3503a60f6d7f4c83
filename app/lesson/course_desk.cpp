#include "app/lesson/course_desk.h"

#include "app/lesson/player.h"
#include "app/lesson/progress.h"
#include "core/lesson/library.h"

#include <algorithm>
#include <sstream>

namespace headscope::app {

namespace {

/// What a panel shows follows from the document, its place in the lessons and its knobs.
std::string panel_key(const lesson::Lesson& lesson, const lesson::LessonPanel& panel,
                      const lesson::Knobs& set) {
    std::ostringstream key;
    key << std::hexfloat << lesson.id << ' ' << panel.line;
    for (const auto& [name, value] : set)
        key << ' ' << name << '=' << value;
    return key.str();
}

} // namespace

CourseDesk::CourseDesk(CourseState& course, Setup setup)
    : course_(course), setup_(std::move(setup)), progress_path_(course_progress_path(setup_.state_folder)),
      panels_(setup_.wake) {
    load_lessons(course_, setup_.lesson_folders, setup_.language);
    course_.progress = read_progress(progress_path_);
}

std::string CourseDesk::add_lesson(const std::string& path) {
    const lesson::Lesson lesson = lesson::open_lesson(path);
    if (std::ranges::find(setup_.lesson_folders, path) == setup_.lesson_folders.end())
        setup_.lesson_folders.push_back(path);
    setup_.language = lesson.language;
    load_lessons(course_, setup_.lesson_folders, setup_.language);
    return lesson.id;
}

void CourseDesk::keep_progress() const {
    write_progress(progress_path_, course_.progress);
}

std::vector<Action> CourseDesk::act(const LessonAction& action, const Document& now) {
    std::vector<Action> follows = play(course_, action, now);
    if (!std::holds_alternative<TurnKnobs>(action)) // knobs are not kept, and a drag turns one in every frame
        keep_progress();
    return follows;
}

bool CourseDesk::watch(const Shown& shown, const ViewState& view) {
    const bool newly = watch_gates(course_, shown, view);
    if (newly)
        keep_progress();
    return newly;
}

void CourseDesk::follow(const Shown& shown) {
    const lesson::Step* const step = course_.step();
    if (shown.trace == nullptr || shown.document->shows_weights() || step == nullptr)
        return panels_.clear();
    panels_.begin_frame();
    panels_.retain({shown.document});
    for (const lesson::LessonBlock& block : step->blocks)
        if (const auto* panel = std::get_if<lesson::LessonPanel>(&block))
            follow(*panel, shown.document);
}

void CourseDesk::follow(const lesson::LessonPanel& panel, const DocumentPtr& document) {
    PanelState& state = course_.panels[panel.line];
    const Derived<lesson::PanelFigure> figure = panels_.ask<lesson::PanelFigure>(
        {document, panel_key(*course_.open, panel, state.set)}, Urgency::on_screen,
        [this, lesson = course_.open, &panel, set = state.set, document](Progress&, const auto&) {
            if (engine_ == nullptr)
                engine_ = engine::make_engine("cpu");
            return lesson::compute_panel(panel, set, document->problem, *engine_);
        });
    if (!figure.done || (figure.value != nullptr && figure.value == state.computed))
        return; // what stood there before stays until then
    state.computed = figure.value;
    if (figure.value != nullptr)
        state.shows = *figure.value;
    else
        state.shows = figure.error;
}

bool CourseDesk::fade_marks(double seconds_since_last) {
    constexpr double ring_seconds = 1.6;
    course_.driven_strength =
        std::max(0.0F, course_.driven_strength - static_cast<float>(seconds_since_last / ring_seconds));
    return course_.driven_strength > 0;
}

void CourseDesk::settle(const Shown& shown) {
    follow(shown);
    panels_.wait();
    follow(shown);
}

} // namespace headscope::app
