#pragma once

#include "app/commands/history.h"
#include "app/jobs/engine_desk.h"
#include "app/jobs/runner.h"
#include "app/shell/files.h"
#include "app/shell/ui.h"
#include "app/views/views.h"

#include <string>

namespace headscope {

/// The whole program inside its window: state, jobs and views. Used by one thread.
class Program : public Ui {
public:
    struct Options {
        Recipe recipe;
        std::string device = "auto";
        std::function<void()> wake =
            {}; ///< called from the worker's thread when a result waits; may be empty
        /// Where work is kept safe and recent files are listed; empty: nowhere.
        std::filesystem::path state_folder = {};
    };
    /// Throws what make_document and make_engine throw.
    explicit Program(const Options& options);

    void frame(Surface& surface, double now) override;
    bool animating() const override;
    float zoom() const override { return state_.view.zoom; }
    Color background() const override;
    std::string title() const override;
    bool quitting() const override { return files_->quitting(); }
    void close() override { act(FileCommand(QuitProgram{})); }

    /// Does what the user would have done; a command that fails leaves the document and sets the error.
    void act(const Action& action);
    /// Blocks until the newest document's trace is there. For pictures and tests.
    void settle();
    /// Opens a project or whatever else the path holds, after the question about unsaved changes.
    void open_path(const std::string& path) { files_->open_path(path); }
    const AppState& state() const { return state_; }
    AppState& state() { return state_; }
    /// The canvas as it was last drawn, in logical pixels of the window.
    const Picture& canvas() const { return canvas_; }
    /// What is on screen as JSON: stage, row, sentence, revision, and where each matrix stands. For programs
    /// that drive the window from outside; described in assets/manual/automation.md.
    std::string report(float scale) const;

private:
    struct Layout {
        Rect toolbar, left, canvas_head, canvas, inspector, bottom;
        bool left_open = true, inspector_open = true;
    };
    Layout layout(float width, float height);
    void take_results();
    void run_command(const Command& command);
    void restore(std::int64_t by);
    void show_document(DocumentPtr document);
    void document_changed();
    /// Follows a number that is being dragged.
    void drag_number(const Surface& surface, const Sink& send);
    void splitters(const Layout& layout, float width, const ViewTools& tools);

    AppState state_;
    std::optional<History> history_; ///< always there after construction
    std::uint64_t gesture_ = 1;      ///< one stretch of holding the mouse or typing
    EngineDesk engines_;             ///< outlives the runner, which has its engine
    Runner runner_;
    std::optional<Files> files_; ///< always there after construction
    FocusRing focus_, dialog_focus_;
    Picture canvas_;
    double last_frame_ = -1;
    bool moving_ = false;
    bool canvas_too_narrow_ = false; ///< the figure did not fit beside the open left panel
    std::uint64_t narrow_for_ = 0;   ///< what it was measured for
};

/// Turns key presses of this frame into actions. Called once a frame, outside text fields.
void handle_shortcuts(AppState& state, FocusRing& focus, const Sink& send);

} // namespace headscope
