#include "app/lesson/player.h"
#include "app/lesson/progress.h"
#include "app/shell/program.h"

namespace headscope {

void Program::load_course() {
    load_lessons(state_.course, options_.lesson_folders, options_.language);
    state_.course.progress = read_progress(course_progress_path(options_.state_folder));
}

void Program::run_lesson(const LessonAction& action) {
    ++gesture_;
    for (const Action& next : play(state_.course, action, *state_.document))
        act(next);
    write_progress(course_progress_path(options_.state_folder), state_.course.progress);
}

void Program::watch_course() {
    if (!watch_gates(state_.course, state_.shown, state_.view))
        return;
    write_progress(course_progress_path(options_.state_folder), state_.course.progress);
    moving_ = true;
}

} // namespace headscope
