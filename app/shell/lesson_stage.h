#pragma once

#include "app/lesson/course_desk.h"
#include "app/session/workspace.h"
#include "app/shell/compare_desk.h"

#include <functional>
#include <string>

namespace headscope::app {

/// The course in the window. A lesson uses a separate document: the user's document is put aside before the
/// first scene of a lesson and is restored when the lesson is closed. For one thread.
class LessonStage {
public:
    /// `act` performs the actions of lesson steps.
    LessonStage(AppState& state, Workspace& workspace, CompareDesk& compare, const CourseDesk::Setup& setup,
                Sink act);

    CourseDesk& course() { return course_; }
    const CourseDesk& course() const { return course_; }
    /// Opens a lesson file of the user. Throws Error(input) if the file is not a lesson.
    void open(const std::string& path);
    void run(const LessonAction& action);
    /// Closes the lesson and restores the user's document.
    void leave();
    /// Shows a scene whose model a worker has opened. Rethrows errors from opening the model.
    void take_scene();

private:
    /// Puts the user's document aside. Returns false if it already was.
    bool enter();

    AppState& state_;
    Workspace& workspace_;
    CompareDesk& compare_;
    Sink act_;
    CourseDesk course_;
};

} // namespace headscope::app
