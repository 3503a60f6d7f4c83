#pragma once

#include "app/jobs/derived.h"
#include "app/jobs/engine_on_demand.h"
#include "app/session/workspace.h"
#include "app/views/state.h"

#include <functional>
#include <optional>
#include <string>

namespace headscope::app {

/// The baseline A that the document is compared with, the list of the history, which marks A, and the
/// highlights on changed cells. For one thread.
class BaselineController {
public:
    BaselineController(AppState& state, const Workspace& workspace, const std::string& device,
                       std::function<void()> wake);

    /// Sets A to the content of the screen or (`unedited`) to the same without edits, which may need a
    /// computation. `name`: of A; empty: the label of the history state. Throws Error(input) if the content
    /// of the screen cannot be compared.
    void mark(bool unedited, const std::string& name = {});
    /// The same once B, a comparison of two checkpoints, is on screen: sets A to the document without edits
    /// and shows B − A. Has no effect if another document takes its place before.
    void mark_when_shown(const std::string& name);
    void drop();
    /// Puts A of the user's document aside while a lesson is open, and restores it afterwards.
    void lay_aside();
    void take_back();
    /// Updates the list of the history for the panels.
    void list_history();

    /// Takes over a computed baseline and updates the comparison for the content of the screen.
    void follow();
    bool busy() const { return baselines_.busy(); }
    void wait() { baselines_.wait(); }

    /// Called when another trace is on screen: highlights the cells that differ from `before` for a moment.
    void begin_flash(Shown before);
    /// Returns true while cells are highlighted.
    bool fade_flash(double seconds_since_last);

private:
    void put(Shown baseline, const std::string& name);
    void compare_shown();
    /// Replaces A of a checkpoint by the same run's attention on screen.
    void follow_layer();
    /// Computes the baseline's values around its attention if the view shows those of a checkpoint.
    void follow_around();
    /// Provides A's run while the atlas compares with it.
    void follow_grid();
    /// Returns the run that A of a checkpoint belongs to; null while it is not known.
    checkpoint::ModelRunPtr run_of_baseline();
    Derived<RunResult> layer_of_baseline(std::int64_t attention, const checkpoint::ModelRunPtr& run);

    AppState& state_;
    const Workspace& workspace_;
    std::optional<std::string> wanted_;         ///< the name for mark_when_shown(); none: nothing is wanted
    std::optional<Comparison> aside_;           ///< the comparison of the user's document
    DocumentPtr coming_;                        ///< the document whose trace will be A; null: none
    std::string coming_name_;                   ///< of that A
    std::shared_ptr<const std::int64_t> layer_; ///< the attention last requested for A
    std::size_t lines_dropped_ = 0;             ///< dropped states that AppState::history accounts for
    bool flash_begins_ = false;
    std::shared_ptr<EngineOnDemand> engine_;
    DerivedValues baselines_;
};

} // namespace headscope::app
