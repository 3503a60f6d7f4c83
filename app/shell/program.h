#pragma once

#include "app/commands/history.h"
#include "app/jobs/engine_desk.h"
#include "app/jobs/head_maps.h"
#include "app/jobs/model_desk.h"
#include "app/jobs/model_look.h"
#include "app/jobs/runner.h"
#include "app/shell/files.h"
#include "app/shell/program_options.h"
#include "app/shell/ui.h"
#include "app/views/views.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace headscope::app {

/// The whole program inside its window: state, jobs and views. Used by one thread.
class Program : public Ui {
public:
    using Options = ProgramOptions;
    /// Throws what make_document and make_engine throw.
    explicit Program(const Options& options);

    void frame(Surface& surface, double now) override;
    bool animating() const override;
    float zoom() const override { return state_.view.zoom; }
    figure::Color background() const override;
    std::string title() const override;
    bool quitting() const override { return files_->quitting(); }
    void close() override { act(FileCommand(QuitProgram{})); }

    /// Does what the user would have done; a command that fails leaves the document and sets the error.
    void act(const Action& action);
    /// Shows a set of attention weights, for example that of a model.
    void open_attention(const AttentionSetPtr& set);
    /// Shows a checkpoint that was opened.
    void open_checkpoint(const OpenedModel& opened);
    /// Blocks until the newest document's trace is there. For pictures and tests.
    void settle();
    /// Opens a project, attention weights, a checkpoint or whatever else the path holds, after the question
    /// about unsaved changes. `prompt`: for a checkpoint, in place of its first one.
    void open_path(const std::string& path, const std::string& prompt = {}) {
        files_->open_path(path, prompt);
    }
    const AppState& state() const { return state_; }
    AppState& state() { return state_; }
    /// The canvas as it was last drawn, in logical pixels of the window.
    const Picture& canvas() const { return canvas_; }
    /// What is on screen as JSON: stage, row, sentence, revision, and where each matrix stands. For programs
    /// that drive the window from outside; described in assets/manual/automation.md.
    std::string report(float scale) const;

private:
    using Layout = ProgramLayout;
    Layout layout(float width, float height);
    void take_results();
    void run_command(const Command& command);
    void change_view(const ViewChange& change);
    void drop_baseline();
    void load_course();
    void open_lesson(const std::string& path);
    void run_lesson(const LessonAction& action);
    /// Marks gates of the open lesson that have come true.
    void watch_course();
    /// Computes the panels of the open step and lets marks on the toolbar fade. Says whether some still do.
    bool follow_course(double seconds_since_last);
    void restore(std::int64_t by);
    void show_document(DocumentPtr document);
    void document_changed();
    /// History as the panels show it.
    void list_history();
    void mark_baseline(bool as_built);
    /// Takes over a baseline that was computed, and lets the comparison follow what is shown.
    void update_comparison();
    /// True while cells that changed are marked.
    bool fade_flash(double seconds_since_last);
    /// The board of the document's attention or model, and the layer that the view wants.
    void follow_attention();
    /// Puts the weights as the view wants them read in place of what the document shows. Throws Error(input).
    void read_attention();
    /// Nothing is looked at that is not in what is still on screen; show_what_waited brings it back.
    void keep_to_shown();
    void show_what_waited();
    /// `changed_from`: what the board shows already differs from that layer on alone.
    void follow_board(const AttentionSetPtr& set, std::optional<std::int64_t> changed_from = {});
    Dims with_means(Dims dims) const;           ///< which count as heads, where the board has them
    const DocumentPtr& wanted_document() const; ///< the newest, or what is looked at in its place
    // The checkpoint: in program_model.cpp.
    /// Asks for what the document and the view want of it, and shows a layer that is known already.
    void follow_model();
    void follow_look(std::optional<std::int64_t> changed_from = {});
    void take_model_results();
    void use_model_answer(const ModelDesk::Answer& answer);
    void run_model_action(const ModelAction& action);
    void show_edits(const ModelPart& edited, const std::string& label);
    void show_layer(std::int64_t layer, const std::shared_ptr<const Problem>& base);
    std::optional<std::int64_t> coming_layer() const; ///< of the checkpoint: opened, but not shown yet
    /// The layer as it was last seen with the inputs of the document; null when that is not known.
    std::shared_ptr<const Problem> known_layer(const ModelPart& part, std::int64_t layer) const;
    /// The state of the history on the layer whose edits it changes.
    DocumentPtr on_changed_layer(const DocumentPtr& next);
    void drag_number(const Surface& surface, const Sink& send);
    void follow_drag(CellDrag& drag, const Surface& surface, const Sink& send) const;
    void splitters(const Layout& layout, float width, const ViewTools& tools);

    AppState state_;
    std::optional<History> history_; ///< always there after construction
    std::uint64_t gesture_ = 1;      ///< one stretch of holding the mouse, typing or turning the wheel
    double wheel_turned_ = -1;       ///< when it last changed a number; seconds from program start
    std::size_t lines_dropped_ = 0;  ///< of the history as it is in state_.history
    EngineDesk engines_;             ///< outlives the runner, which has its engine
    Runner runner_;
    std::optional<Files> files_; ///< always there after construction
    Options options_;
    std::unique_ptr<engine::Engine> panel_engine_; ///< of lessons; made when a step has a panel
    std::optional<Runner> baseline_runner_; ///< for a baseline that was never on screen; made when needed
    std::string baseline_name_;             ///< of the one that is being computed
    FocusRing focus_, dialog_focus_;
    std::unique_ptr<HeadMaps> maps_; ///< while the document has a board
    AttentionSetPtr mapped_;         ///< that maps_ were made for
    ReadAttention read_;             ///< goes before maps_, which wait for it otherwise
    ModelLook look_;                 ///< at the open checkpoint
    struct WhenShown {
        std::optional<CellAddress> selected;
        std::optional<std::int64_t> head;
    } when_shown_; ///< what is looked at once the newest attention is on screen
    /// A layer of the open checkpoint, while some document holds it.
    struct KnownLayer {
        std::shared_ptr<const checkpoint::ModelInputs> inputs;
        std::weak_ptr<const Problem> base;
    };
    std::optional<ModelDesk> desk_;           ///< while the document is a layer of a checkpoint
    ModelDesk::Wish wanted_;                  ///< asked of it last
    std::optional<std::string> typed_prompt_; ///< not answered yet
    std::uint64_t typed_gesture_ = 0;
    std::map<std::int64_t, KnownLayer> known_layers_;
    Picture canvas_;
    double last_frame_ = -1;
    bool moving_ = false, flash_begins_ = false;
    bool typing_ = false;            ///< a text field has the keyboard
    bool canvas_too_narrow_ = false; ///< the figure did not fit beside the open left panel
    std::uint64_t narrow_for_ = 0;   ///< what it was measured for
};

} // namespace headscope::app
