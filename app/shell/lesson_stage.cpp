#include "app/shell/lesson_stage.h"

#include <utility>

namespace headscope::app {

LessonStage::LessonStage(AppState& state, Workspace& workspace, CompareDesk& compare,
                         const CourseDesk::Setup& setup, Sink act)
    : state_(state), workspace_(workspace), compare_(compare), act_(std::move(act)),
      course_(state.course, setup) {}

void LessonStage::open(const std::string& path) {
    run(OpenLesson{course_.add_lesson(path)});
}

void LessonStage::run(const LessonAction& action) {
    workspace_.end_gesture();
    const std::vector<Action> follows = course_.act(action, *state_.document);
    if (state_.course.open == nullptr)
        leave();
    // While a model is being opened, the user's document stays on screen.
    const bool enters = state_.course.open != nullptr && state_.course.coming == nullptr && enter();
    for (const Action& next : follows)
        act_(next);
    if (enters)
        workspace_.forget_before();
}

bool LessonStage::enter() {
    if (workspace_.laid_aside())
        return false;
    workspace_.lay_aside();
    compare_.lay_aside();
    state_.view.compare = Compare::now;
    return true;
}

void LessonStage::leave() {
    course_.close();
    if (!workspace_.laid_aside())
        return;
    compare_.take_back();
    workspace_.take_back();
}

void LessonStage::take_scene() {
    const auto scene = course_.take_scene(*state_.document);
    if (!scene)
        return;
    workspace_.end_gesture();
    const bool enters = enter();
    if (scene->opened)
        workspace_.go_to(*scene->opened, scene->label);
    if (enters)
        workspace_.forget_before();
    for (const Action& action : scene->view)
        act_(action);
}

} // namespace headscope::app
