#pragma once

#include "app/jobs/head_maps.h"
#include "app/session/session_state.h"

#include <functional>
#include <memory>
#include <optional>

namespace headscope::app {

/// The small maps of all heads of a set of attention weights. SessionState::head_grid refers to them during
/// the lifetime of this object.
class HeadGridController {
public:
    HeadGridController(SessionState& state, std::function<void()> wake)
        : state_(state), wake_(std::move(wake)) {}
    ~HeadGridController() { state_.head_grid = nullptr; }
    HeadGridController(const HeadGridController&) = delete;
    HeadGridController& operator=(const HeadGridController&) = delete;

    /// Shows another set; null: none. `changed_from`: the shown maps are valid for layers before this one.
    void follow(const AttentionSetPtr& set, std::optional<std::int64_t> changed_from = {});
    /// Reports the visible layers; they are read first, together with the open one.
    void prioritize(std::int64_t first, std::int64_t last);
    void wait();
    /// Returns true until follow() was called with every layer read.
    bool busy() const { return !complete_; }

private:
    SessionState& state_;
    std::function<void()> wake_;
    AttentionSetPtr set_;
    std::unique_ptr<HeadMaps> maps_; ///< the maps of set_
    bool complete_ = true;           ///< at the last follow()
};

/// Returns the cell of `to` for the same query and key as `cell` of `from`, in layer l; nothing if they are
/// hidden there.
std::optional<CellAddress> corresponding_cell(const std::optional<CellAddress>& cell,
                                              const AttentionSet& from, const AttentionSet& to,
                                              std::int64_t l);

/// Changes of the view that are pending until the newest attention is on screen.
struct PendingView {
    std::optional<CellAddress> selected;
    std::optional<std::int64_t> head, row;

    /// Applies them to the view, once.
    void take(ViewState& view);
};

} // namespace headscope::app
