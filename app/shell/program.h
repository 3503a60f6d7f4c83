#pragma once

#include "app/session/workspace.h"
#include "app/shell/baseline_controller.h"
#include "app/shell/files/files.h"
#include "app/shell/files/hub_controller.h"
#include "app/shell/frame_times.h"
#include "app/shell/gestures.h"
#include "app/shell/lesson_controller.h"
#include "app/shell/motion/step_before.h"
#include "app/shell/program_options.h"
#include "app/shell/report/grid_numbers.h"
#include "app/shell/ui.h"
#include "app/views/views.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// The request of an external action for which a failure counts as new even if the same request failed
/// before.
enum class RepeatedRequest { nothing, prompt, file };

/// The whole program inside its window: draws frames and dispatches actions. The workspace owns the document
/// and everything computed from it. Used by one thread.
class Program : public Ui {
public:
    using Options = ProgramOptions;
    /// Throws what make_document and make_engine throw.
    explicit Program(const Options& options);

    void frame(Surface& surface, double now) override;
    bool wait_for_results(std::chrono::milliseconds at_most) override;
    bool animating() const override;
    double next_frame_at() const override;
    float zoom() const override;
    figure::Color background() const override;
    std::string title() const override;
    bool full_screen() const override { return state_.full_screen; }
    bool keeps_previous_frame() const override { return times_.keeps_previous_frame(); }
    bool quitting() const override { return files_.quitting(); }
    void close() override { act(QuitProgram{}); }

    /// Performs an action of the user. A command that fails leaves the document unchanged and sets the error.
    void act(const Action& action);
    /// Shows a set of attention weights, for example from a model.
    void open_attention(const AttentionSetPtr& set) { workspace_.open(set); }
    /// Shows an opened checkpoint.
    void open_checkpoint(const OpenedModel& opened) { workspace_.open(opened); }
    /// Opens any supported file, after the question about unsaved changes. `texts`: for a checkpoint.
    void open_path(const std::string& path, const ModelTexts& texts = {}) { files_.open_path(path, texts); }
    /// Opens a checkpoint and compares it with another one.
    void open_compared(const std::string& path, const ModelTexts& texts, const std::string& other) {
        files_.open_compared(path, texts, other);
    }
    void save_path(const std::string& path) { files_.save_path(path); }
    /// Writes a picture, numbers, a script or a film; see Files::write_path.
    void write_path(const FileToWrite& file) { files_.write_path(file); }
    /// Sets the initial content of a window that is started without a file: the Start panel or, if the user
    /// turned that off, the most recent file that still exists.
    void begin();
    /// Blocks until the newest document's trace is complete. For export and tests.
    void settle();
    /// Returns true if the next frame shows the newest document with all its results, without animation.
    bool settled() const;
    const AppState& state() const { return state_; }
    AppState& state() { return state_; }
    /// The canvas as last drawn, in logical pixels of the window.
    const Picture& canvas() const { return canvas_; }
    /// The active focus ring, of the window or of the dialog over it; null: no control has Tab focus.
    const FocusRing* focus() const {
        return dialog_focus_.visible() ? &dialog_focus_ : focus_.visible() ? &focus_ : nullptr;
    }
    /// Returns the content of the screen as JSON; described in assets/manual/automation.md.
    std::string report(float scale) const;
    /// Returns the number of the open question (see open_question): it grows with every question that opens.
    std::uint64_t question_number();
    /// Records the current errors before an external action, so that only later ones count as new. `asked`: a
    /// repeated failure of this request also counts as new.
    void begin_action(RepeatedRequest asked);
    /// Returns the first error since begin_action(), as one sentence; empty if there is none.
    std::string new_fault() const;

private:
    void take_results();
    /// Throws Error for the user, as the parts of the program do.
    void perform(const Action& action);
    void follow_question();
    bool working() const {
        return workspace_.busy() || compare_.busy() || lessons_.course().busy() || files_.busy();
    }
    /// Removes the notice after enough time to read it.
    void follow_notice(double now);
    void change_view(const ViewChange& change);
    void compare_prompts();
    /// Keeps the canvas as last drawn, which another page replaces. `left`: the screen that it shows.
    void keep_leaving(Screen left);

    AppState state_;
    Workspace workspace_;
    BaselineController compare_;
    StepBefore step_before_;
    Files files_;
    HubController hub_;
    LessonController lessons_;
    Gestures gestures_;
    FocusRing focus_, dialog_focus_;
    Picture canvas_;
    figure::Point window_; ///< size at 100 %, in logical pixels; as last drawn
    FrameTimes times_;
    bool moving_ = false;                   ///< another frame must follow
    std::weak_ptr<const Document> counted_; ///< last shown document
    std::uint64_t revision_ = 0;            ///< counts the shown documents
    std::vector<std::string> old_faults_;   ///< known before the last external action
    std::string question_;                  ///< kind and text of the open question; empty: none
    std::uint64_t question_number_ = 0;     ///< counts the opened questions
    mutable GridExtremes extremes_;         ///< for reports
    std::string last_notice_; ///< the notice of the last frame; notice_until_: when it is removed
    double notice_until_ = std::numeric_limits<double>::infinity(), drawn_at_ = 0;
};

} // namespace headscope::app
