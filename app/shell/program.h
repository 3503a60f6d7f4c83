#pragma once

#include "app/session/workspace.h"
#include "app/shell/compare_desk.h"
#include "app/shell/files/files.h"
#include "app/shell/frame_times.h"
#include "app/shell/gestures.h"
#include "app/shell/lesson_stage.h"
#include "app/shell/program_options.h"
#include "app/shell/ui.h"
#include "app/views/views.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// The request of an outside action that counts as new even if the same request failed before.
enum class AskedAgain { nothing, prompt, file };

/// The whole program inside its window: frames, and what goes where. The document and everything computed of
/// it belong to the workspace. Used by one thread.
class Program : public Ui {
public:
    using Options = ProgramOptions;
    /// Throws what make_document and make_engine throw.
    explicit Program(const Options& options);

    void frame(Surface& surface, double now) override;
    bool catch_up(std::chrono::milliseconds at_most) override;
    bool animating() const override;
    double wakes_at() const override;
    float zoom() const override;
    figure::Color background() const override;
    std::string title() const override;
    bool full_screen() const override { return state_.full_screen; }
    bool keeps_picture() const override { return times_.keeps_picture(); }
    bool quitting() const override { return files_.quitting(); }
    void close() override { act(QuitProgram{}); }

    /// Does what the user would have done; a command that fails leaves the document and sets the error.
    void act(const Action& action);
    /// Shows a set of attention weights, for example that of a model.
    void open_attention(const AttentionSetPtr& set) { workspace_.open(set); }
    /// Shows a checkpoint that was opened.
    void open_checkpoint(const OpenedModel& opened) { workspace_.open(opened); }
    /// Opens a project, attention weights, a checkpoint or whatever else the path holds, after the question
    /// about unsaved changes. `texts`: for a checkpoint.
    void open_path(const std::string& path, const ModelTexts& texts = {}) { files_.open_path(path, texts); }
    void save_path(const std::string& path) { files_.save_path(path); }
    /// What a window opens with when nothing was asked for: the Start page; where the user switched that off,
    /// the latest file that is still there.
    void begin();
    /// Blocks until the newest document's trace is there. For pictures and tests.
    void settle();
    /// Whether what is drawn next is the newest document with all that follows from it, at rest.
    bool settled() const;
    const AppState& state() const { return state_; }
    AppState& state() { return state_; }
    /// The canvas as it was last drawn, in logical pixels of the window.
    const Picture& canvas() const { return canvas_; }
    /// The ring that Tab moves, of the window or of the dialog over it; null: it stands nowhere.
    const FocusRing* focus() const {
        return dialog_focus_.visible() ? &dialog_focus_ : focus_.visible() ? &focus_ : nullptr;
    }
    /// What is on screen as JSON; described in assets/manual/automation.md.
    std::string report(float scale) const;
    /// Forgets what was wrong before the next action from outside. What the action asks for again may fail in
    /// the same way as before, and that is then new.
    void begin_action(AskedAgain asked);
    /// The first error since begin_action(), as one sentence; empty if there is none.
    std::string new_fault() const;

private:
    void take_results();
    bool working() const {
        return workspace_.busy() || compare_.busy() || lessons_.course().busy() || files_.busy();
    }
    /// Takes what was said away once there was time to read it.
    void follow_notice(double now);
    void change_view(const ViewChange& change);
    void compare_prompts();

    AppState state_;
    Workspace workspace_;
    CompareDesk compare_;
    Files files_;
    LessonStage lessons_;
    Gestures gestures_;
    FocusRing focus_, dialog_focus_;
    Picture canvas_;
    figure::Point window_; ///< size at 100 %, in logical pixels; as it was last drawn
    FrameTimes times_;
    bool moving_ = false;                   ///< another frame must follow
    std::weak_ptr<const Document> counted_; ///< shown last
    std::uint64_t revision_ = 0;            ///< how often another document was shown
    std::vector<std::string> old_faults_;   ///< known before the last action from outside
    std::string told_;                      ///< the notice of the last frame, and when it goes
    double told_until_ = std::numeric_limits<double>::infinity(), drawn_at_ = 0;
};

} // namespace headscope::app
