#include "app/shell/lesson_controller.h"

#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <filesystem>
#include <utility>

namespace headscope::app {

LessonController::LessonController(AppState& state, Workspace& workspace, BaselineController& compare,
                                   const CourseController::Setup& setup, Sink act)
    : state_(state), workspace_(workspace), compare_(compare), act_(std::move(act)),
      course_(state.course, setup) {}

void LessonController::open(const std::string& path) {
    run(OpenLesson{course_.add_lesson(path)});
}

void LessonController::run(const LessonAction& action) {
    workspace_.end_gesture();
    const std::vector<Action> follows = course_.act(action, *state_.document);
    if (state_.course.open == nullptr)
        leave();
    // While a model is being opened, the user's document stays on screen.
    const bool enters = state_.course.open != nullptr && state_.course.pending_scene == nullptr && enter();
    for (const Action& next : follows)
        act_(next);
    if (enters)
        workspace_.clear_history();
}

bool LessonController::enter() {
    if (workspace_.is_suspended())
        return false;
    workspace_.suspend_document();
    compare_.lay_aside();
    state_.view.compare = Compare::now;
    return true;
}

void LessonController::leave() {
    course_.close();
    if (!workspace_.is_suspended())
        return;
    compare_.take_back();
    workspace_.resume_document();
}

void LessonController::follow_file() {
    const auto reread = course_.reread(*state_.document);
    if (!reread)
        return;
    if (state_.error == file_fault_)
        state_.error.clear();
    file_fault_ = reread->fault;
    if (!file_fault_.empty()) {
        state_.error = file_fault_;
        return;
    }
    state_.notice = tr("lesson_controller.reread", "{} was read again.",
                       text::plain_text(std::filesystem::path(state_.course.open->path).filename().string()));
    workspace_.end_gesture();
    for (const Action& next : reread->follows)
        act_(next);
}

std::vector<std::shared_ptr<const lesson::Lesson>> LessonController::pictured() const {
    const CourseState& course = state_.course;
    if (course.open != nullptr || state_.presentation.on)
        return {};
    if (state_.view.tab == LeftTab::course)
        return course.lessons;
    const auto next = state_.view.tab == LeftTab::start ? course.next() : nullptr;
    if (next == nullptr)
        return {};
    return {next};
}

void LessonController::take_scene() {
    const auto scene = course_.take_scene(*state_.document);
    if (!scene)
        return;
    workspace_.end_gesture();
    const bool enters = enter();
    if (scene->opened)
        workspace_.go_to(*scene->opened, scene->label);
    if (enters)
        workspace_.clear_history();
    for (const Action& action : scene->view)
        act_(action);
}

} // namespace headscope::app
