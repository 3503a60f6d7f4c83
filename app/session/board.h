#pragma once

#include "app/jobs/head_maps.h"
#include "app/session/session_state.h"

#include <functional>
#include <memory>
#include <optional>

namespace headscope::app {

/// The small maps of all heads of a set of attention weights, shown by SessionState::board while this lives.
class Board {
public:
    Board(SessionState& state, std::function<void()> wake) : state_(state), wake_(std::move(wake)) {}
    ~Board() { state_.board = nullptr; }
    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;

    /// Shows another set; null: none. `changed_from`: the maps shown already are right in the layers before.
    void follow(const AttentionSetPtr& set, std::optional<std::int64_t> changed_from = {});
    /// These layers are on screen, beside the open one.
    void look_at(std::int64_t first, std::int64_t last);
    void wait();

private:
    SessionState& state_;
    std::function<void()> wake_;
    AttentionSetPtr set_;
    std::unique_ptr<HeadMaps> maps_; ///< of set_
};

/// The weight at `cell` of `from` where `to` holds it, in layer l; nothing where it is hidden there.
std::optional<CellAddress> carried(const std::optional<CellAddress>& cell, const AttentionSet& from,
                                   const AttentionSet& to, std::int64_t l);

/// What is looked at once the newest attention is on screen.
struct WhenShown {
    std::optional<CellAddress> selected;
    std::optional<std::int64_t> head, row;

    /// Puts it into the view, once.
    void take(ViewState& view);
};

} // namespace headscope::app
