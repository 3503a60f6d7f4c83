#include "app/lesson/panel_desk.h"
#include "app/lesson/player.h"
#include "app/lesson/progress.h"
#include "app/shell/program.h"

#include <algorithm>

namespace headscope::app {

void Program::load_course() {
    load_lessons(state_.course, options_.lesson_folders, options_.language);
    state_.course.progress = read_progress(course_progress_path(options_.state_folder));
}

void Program::open_lesson(const std::string& path) {
    const lesson::Lesson lesson = lesson::open_lesson(path);
    if (std::ranges::find(options_.lesson_folders, path) == options_.lesson_folders.end())
        options_.lesson_folders.push_back(path);
    options_.language = lesson.language;
    load_lessons(state_.course, options_.lesson_folders, options_.language);
    run_lesson(OpenLesson{lesson.id});
    change_view(ShowTab{LeftTab::course});
}

void Program::run_lesson(const LessonAction& action) {
    ++gesture_;
    for (const Action& next : play(state_.course, action, *state_.document))
        act(next);
    if (!std::holds_alternative<TurnKnobs>(action)) // knobs are not kept, and a drag turns one in every frame
        write_progress(course_progress_path(options_.state_folder), state_.course.progress);
}

void Program::watch_course() {
    // What is still on screen of the page before would open this page's gates.
    if (state_.shown.document != state_.document || !watch_gates(state_.course, state_.shown, state_.view))
        return;
    write_progress(course_progress_path(options_.state_folder), state_.course.progress);
    moving_ = true;
}

bool Program::follow_course(double seconds_since_last) {
    CourseState& course = state_.course;
    if (state_.shown.trace != nullptr && !state_.shown.document->shows_weights())
        compute_panels(course, state_.shown, panel_engine_);
    constexpr double ring_seconds = 1.6;
    course.driven_strength =
        std::max(0.0F, course.driven_strength - static_cast<float>(seconds_since_last / ring_seconds));
    return course.driven_strength > 0;
}

} // namespace headscope::app
