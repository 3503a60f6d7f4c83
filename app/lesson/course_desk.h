#pragma once

#include "app/commands/command.h"
#include "app/jobs/derived.h"
#include "app/jobs/model_desk.h"
#include "app/state/course_state.h"
#include "app/state/shown.h"
#include "core/engine/engine.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// The course while the window is open: lessons, the learner's progress on disk, and the panels of the open
/// step, which a worker computes. For one thread; nothing but settle() blocks.
class CourseDesk {
public:
    struct Setup {
        std::vector<std::string> lesson_folders; ///< beside the program's own lessons
        std::string language;
        std::filesystem::path state_folder; ///< where progress is kept; empty: nowhere
        std::function<void()> wake;
    };
    CourseDesk(CourseState& course, Setup setup);

    /// Puts the lesson of a file into the course and returns its id. Throws Error(input).
    std::string add_lesson(const std::string& path);

    /// Does what the learner asked of the course and returns what the program has to do for it. Throws
    /// Error(input) when a scene's problem cannot be built.
    std::vector<Action> act(const LessonAction& action, const Document& now);
    /// Closes the open lesson, if there is one.
    void close();
    /// A scene with a model, once it is open: its checkpoint where that is not on screen already, and what
    /// makes up the view. Throws Error(input) when the model cannot be opened or has no such layer or head.
    struct OpenedScene {
        std::optional<OpenedModel> opened;
        std::string label; ///< in the history
        std::vector<Action> view;
    };
    std::optional<OpenedScene> take_scene(const Document& now);
    /// Marks gates of the open lesson that have come true. Says whether one newly did.
    bool watch(const Shown& shown, const ViewState& view);
    /// Has the panels of the open step computed for what is on screen, and takes over those that are.
    void follow(const Shown& shown);
    /// Why the learner's progress is not saved: a sentence once for each reason, else empty.
    std::string take_fault();
    /// Lets the marks on the toolbar fade. True while there are some.
    bool fade_marks(double seconds_since_last);

    bool busy() const { return panels_.busy() || course_.coming != nullptr; }
    /// Blocks until the model that a scene asks for is open. For pictures and tests.
    void settle_scene();
    /// Blocks until the panels are computed and taken over. For pictures and tests.
    void settle(const Shown& shown);

private:
    void follow(const lesson::LessonPanel& panel, const DocumentPtr& document);
    /// Has the values of the checkpoint on screen computed, while the open page is about it.
    void follow_model(const Document& shown);
    /// Keeps the numbers on screen as the page's own, while they still are.
    void keep_own(const Shown& shown);
    Derived<OpenedModel> ask_scene();
    void keep_progress();

    CourseState& course_;
    Setup setup_;
    std::filesystem::path progress_path_;
    std::string fault_, last_fault_;         ///< to be taken; of the last time that progress was saved
    std::unique_ptr<engine::Engine> engine_; ///< for the worker of panels_ alone, which makes it
    /// For the worker of scenes_ alone; by name. The pages that show a model hold it.
    std::map<std::string, std::weak_ptr<const checkpoint::TextModel>> models_;
    DerivedValues panels_, scenes_; ///< end before what they work with
};

} // namespace headscope::app
