#pragma once

#include "app/commands/actions.h"
#include "app/draw/kit/picture.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::app {

/// The search field of Ctrl F.
struct Find {
    bool open = false;
    std::string typed;
    std::size_t selected = 0; ///< index of the selected match
    bool follow = false;      ///< the canvas scrolls to the selection in the next frame
    /// The keyboard in the next frame: no change; taken by the field, with its text selected; taken with the
    /// caret at the end.
    enum class Keyboard : std::uint8_t { stays, take_select_all, take_at_end } keyboard = Keyboard::stays;
    bool has_keyboard() const { return keyboard == Keyboard::stays; }
};

/// A match: a token of the queries, or a cell with a printed number.
using FindMatch = std::variant<std::int64_t, CellAddress>;

/// The matches on screen: tokens that contain the text (case is ignored), from the first one on, then cells
/// whose printed number equals the text, where "-" also matches the minus sign. Empty for an empty text.
std::vector<FindMatch> find_in_view(const Shown& shown, const Picture& canvas, std::string_view typed);

/// Selects the current cell in that token's row. For a checkpoint also selects the token whose prediction is
/// shown; on screens other than the stages only that.
Actions select_token(const Shown& shown, const ViewState& view, std::int64_t token);
Actions select_match(const Shown& shown, const ViewState& view, const FindMatch& finding);
/// If `find.follow` is set, makes the canvas point at the selected cell, so that it is scrolled into view.
Picture point_at_selected_match(Picture canvas, const Find& find, const ViewState& view);

} // namespace headscope::app
