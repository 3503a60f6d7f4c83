#pragma once

#include "app/commands/command.h"
#include "app/jobs/derived.h"
#include "app/jobs/model_runner.h"
#include "app/lesson/lesson_watch.h"
#include "app/state/course_state.h"
#include "app/state/shown.h"
#include "core/engine/engine.h"
#include "core/lesson/library.h"

#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// Service for the course: lessons, the learner's progress on disk, and the panels of the open step, which a
/// worker computes. For one thread; only settle() and settle_scene() block, and the first use of the lessons
/// until they are read.
class CourseController {
public:
    struct Setup {
        std::vector<std::string> lesson_folders; ///< in addition to the built-in lessons
        std::string language;
        std::filesystem::path state_folder; ///< folder for the progress; empty: not saved
        std::function<void()> wake;
    };
    /// Begins to read the lessons.
    CourseController(CourseState& course, Setup setup);

    /// Adds the lesson of a file to the course and returns its id. Throws Error(input).
    std::string add_lesson(const std::string& path);

    /// The result of reading the file of the open lesson again.
    struct Reread {
        std::string fault;           ///< the first fault, as one sentence; the former version stays open
        std::vector<Action> follows; ///< actions that the program must perform
    };
    /// Reads the file of the open lesson again if it changed on disk, and stays at the step.
    std::optional<Reread> reread(const Document& now);

    /// Handles an action of the learner and returns the actions that the program must perform. Throws
    /// Error(input) if the input of a scene cannot be built.
    std::vector<Action> act(const LessonAction& action, const Document& now);
    /// Closes the open lesson, if there is one.
    void close();
    /// The result of opening a scene with a model: its checkpoint, unless it is on screen already, and the
    /// actions that set the view. take_scene throws Error(input) if the model cannot be opened or lacks the
    /// layer or head.
    struct OpenedScene {
        std::optional<OpenedModel> opened;
        std::string label; ///< label of the history entry
        std::vector<Action> view;
    };
    std::optional<OpenedScene> take_scene(const Document& now);
    /// Marks the gates of the open lesson that became true. Returns true if any is newly marked.
    bool watch(const Shown& shown, const ViewState& view);
    /// Returns the answer of a click on the canvas to a question of the open step; see
    /// app/lesson/answering.h.
    std::optional<AnswerStep> clicked_answer(const ViewState& view) const;
    /// Requests the panels of the open step for the content of the screen, and takes over finished ones.
    void follow(const Shown& shown);
    /// Requests the pictures of these lessons, and takes over finished ones. Call once a frame.
    void follow_pictures(const std::vector<std::shared_ptr<const lesson::Lesson>>& wanted);
    /// Blocks until their pictures are taken over. For export and tests.
    void settle_pictures(const std::vector<std::shared_ptr<const lesson::Lesson>>& wanted);
    /// Returns why the learner's progress is not saved: one sentence, once per reason; else empty.
    std::string take_fault();
    /// Fades the highlights on the toolbar. Returns true while there are any.
    bool fade_marks(double seconds_since_last);

    bool busy() const { return reading_.valid() || panels_.busy() || course_.pending_scene != nullptr; }
    /// Blocks until the model of a requested scene is open. For export and tests.
    void settle_scene();
    /// Blocks until the panels are computed and taken over. For export and tests.
    void settle(const Shown& shown);

private:
    void begin_reading();
    /// Lists the lessons. Waits until they are read.
    void finish_reading();
    void follow(const lesson::LessonPanel& panel, const DocumentPtr& document);
    /// Requests the values of the checkpoint on screen while the open page is about it.
    void follow_model(const Document& shown);
    /// Stores the numbers on screen as the page's own, as long as nothing was changed.
    void keep_own(const Shown& shown);
    Derived<OpenedModel> ask_scene();
    void keep_progress();

    CourseState& course_;
    Setup setup_;
    LessonWatch watch_;
    std::filesystem::path progress_path_;
    std::future<std::vector<lesson::FoundLesson>> reading_; ///< not valid after finish_reading()
    std::string fault_, last_fault_;         ///< to be returned by take_fault; result of the last save
    std::unique_ptr<engine::Engine> engine_; ///< only for the worker of panels_, which creates it
    /// By name; only for the worker of scenes_. Owned by the pages that show a model.
    std::map<std::string, std::weak_ptr<const checkpoint::TextModel>> models_;
    DerivedValues panels_, scenes_, pictures_; ///< destroyed before the members that they use
};

} // namespace headscope::app
