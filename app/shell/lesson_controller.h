#pragma once

#include "app/lesson/course_controller.h"
#include "app/session/workspace.h"
#include "app/shell/baseline_controller.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// The course in the window. A lesson uses a separate document: the user's document is put aside before the
/// first scene of a lesson and is restored when the lesson is closed. For one thread.
class LessonController {
public:
    /// `act` performs the actions of lesson steps.
    LessonController(AppState& state, Workspace& workspace, BaselineController& compare,
                     const CourseController::Setup& setup, Sink act);

    CourseController& course() { return course_; }
    const CourseController& course() const { return course_; }
    /// Opens a lesson file of the user. Throws Error(input) if the file is not a lesson.
    void open(const std::string& path);
    void run(const LessonAction& action);
    /// Closes the lesson and restores the user's document.
    void leave();
    /// Reads the file of the open lesson again if it changed on disk. A faulty version is reported.
    void follow_file();
    /// Shows a scene whose model a worker has opened. Rethrows errors from opening the model.
    void take_scene();

    /// The lessons whose pictures are on screen: all in their list, the next one on the Start page.
    std::vector<std::shared_ptr<const lesson::Lesson>> pictured() const;

private:
    /// Puts the user's document aside. Returns false if it already was.
    bool enter();

    AppState& state_;
    Workspace& workspace_;
    BaselineController& compare_;
    Sink act_;
    CourseController course_;
    std::string file_fault_; ///< the reported fault of the open lesson's file; empty: none
};

} // namespace headscope::app
