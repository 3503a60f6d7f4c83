#pragma once

#include "app/commands/actions.h"
#include "app/draw/kit/picture.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::app {

/// The field of Ctrl F.
struct Find {
    bool open = false;
    std::string typed;
    std::size_t at = 0;  ///< which of what was found is selected
    bool follow = false; ///< the canvas scrolls to the selection in the next frame
    /// Whether the field takes the keyboard in the next frame: with its text selected, or behind it.
    enum class Keyboard : std::uint8_t { stays, anew, again } keyboard = Keyboard::stays;
    bool has_keyboard() const { return keyboard == Keyboard::stays; }
};

/// A token of the queries, or a cell with a printed number.
using Finding = std::variant<std::int64_t, CellAddress>;

/// Where the text is on screen: in tokens, small letters as capitals, from the first one on; and cells whose
/// printed number is that text, where - stands for the minus sign too. Nothing for an empty text.
std::vector<Finding> find_in_view(const Shown& shown, const Picture& canvas, std::string_view typed);

/// Selects the number that the inspector speaks of in that token's row, and of a checkpoint the token whose
/// prediction is looked at: on its other screens that alone.
Actions show_token(const Shown& shown, const ViewState& view, std::int64_t token);
Actions show_finding(const Shown& shown, const ViewState& view, const Finding& finding);
/// A canvas that is to follow points at the selected cell, which is then brought into sight.
Picture pointing_at_found(Picture canvas, const Find& find, const ViewState& view);

} // namespace headscope::app
