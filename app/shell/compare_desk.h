#pragma once

#include "app/jobs/derived.h"
#include "app/jobs/engine_on_demand.h"
#include "app/session/workspace.h"
#include "app/views/state.h"

#include <functional>
#include <optional>
#include <string>

namespace headscope::app {

/// The baseline A that the document is compared with, the list of the history, where A is marked, and the
/// marks on cells that changed. For one thread.
class CompareDesk {
public:
    CompareDesk(AppState& state, const Workspace& workspace, const std::string& device,
                std::function<void()> wake);

    /// From now on A is what is on screen, or (`unedited`) the same as it was built, which may have to be
    /// computed. `name` of A; empty: the state of the history. Throws Error(input) when what is on screen
    /// cannot be compared.
    void mark(bool unedited, const std::string& name = {});
    void drop();
    /// Keeps A of the user's document while a lesson plays, and puts it back afterwards.
    void lay_aside();
    void take_back();
    /// The history as the panels show it.
    void list_history();

    /// Takes over a baseline that was computed, and lets the comparison follow what is shown.
    void follow();
    bool busy() const { return baselines_.busy(); }
    void wait() { baselines_.wait(); }

    /// Another trace is on screen; its cells that differ from `before` are marked for a moment.
    void begin_flash(Shown before);
    /// True while cells are marked.
    bool fade_flash(double seconds_since_last);

private:
    void put(Shown baseline, const std::string& name);
    void compare_shown();
    /// A of a checkpoint becomes the same run's at the attention on screen.
    void follow_layer();
    /// What the baseline computes around its attention, where the page shows that of a checkpoint.
    void follow_around();
    /// The run that A of a checkpoint is of; null while it is not known.
    checkpoint::ModelRunPtr run_of_baseline();
    Derived<RunResult> layer_of_baseline(std::int64_t attention, const checkpoint::ModelRunPtr& run);

    AppState& state_;
    const Workspace& workspace_;
    std::optional<Comparison> aside_;           ///< of the user's document
    DocumentPtr coming_;                        ///< whose trace will be A; null: none
    std::shared_ptr<const std::int64_t> layer_; ///< the attention that A was last asked for
    std::size_t lines_dropped_ = 0;             ///< of the history as it is in AppState::history
    bool flash_begins_ = false;
    std::shared_ptr<EngineOnDemand> engine_;
    DerivedValues baselines_;
};

} // namespace headscope::app
