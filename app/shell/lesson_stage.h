#pragma once

#include "app/lesson/course_desk.h"
#include "app/session/workspace.h"
#include "app/shell/compare_desk.h"

#include <functional>
#include <string>

namespace headscope::app {

/// The course in the window. A lesson plays on a document of its own: the user's document is laid aside
/// before the first problem of a lesson and comes back when the lesson is closed. For one thread.
class LessonStage {
public:
    /// `act` does what the steps of a lesson send.
    LessonStage(AppState& state, Workspace& workspace, CompareDesk& compare, const CourseDesk::Setup& setup,
                Sink act);

    CourseDesk& course() { return course_; }
    const CourseDesk& course() const { return course_; }
    /// Opens a lesson of the user's own. Throws Error(input) for a file that is no lesson.
    void open(const std::string& path);
    void run(const LessonAction& action);
    /// Closes the lesson and shows the user's document again.
    void leave();
    /// Shows a scene whose model a worker has opened. Throws what opening the model threw.
    void take_scene();

private:
    /// Lays the user's document aside. Returns false where it was aside already.
    bool enter();

    AppState& state_;
    Workspace& workspace_;
    CompareDesk& compare_;
    Sink act_;
    CourseDesk course_;
};

} // namespace headscope::app
