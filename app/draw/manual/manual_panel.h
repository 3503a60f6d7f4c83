#pragma once

#include "app/draw/kit/picture.h"
#include "core/manual/place.h"
#include "core/manual/search.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// The state of the manual in the window.
struct ManualPanel {
    bool open = false;
    manual::Place at; ///< without a page: the table of contents
    std::string search;
    bool typing = false;        ///< the search field has the keyboard
    bool take_keyboard = false; ///< the search field requests the keyboard
    float scroll = 0;           ///< scroll position of the page, logical pixels
    /// The scroll position for the next frame; negative: the heading of `at`.
    std::optional<float> scroll_to;
    /// The last search result and its search text; see look_up().
    std::shared_ptr<const std::vector<manual::SearchResult>> found;
    std::string found_text;

    struct Visit {
        manual::Place place;
        float scroll;
    };
    std::vector<Visit> back, forward; ///< the newest last
};

inline constexpr float manual_pad = 24;

/// Opens a heading and adds the previous one to `back`. Throws Error(input) if there is no such heading.
void open_manual(ManualPanel& panel, const manual::Place& place);
/// Moves back (-1) or forward (+1) through the visited headings; does nothing at the end.
void step_manual(ManualPanel& panel, int by);

/// The search result for the text in the field, computed once per text.
const std::vector<manual::SearchResult>& look_up(ManualPanel& panel);

/// The part of the manual about what is on screen: the screen, otherwise the kind of document, otherwise the
/// stage.
manual::Place manual_place_of_screen(const Shown& shown, const ViewState& view);

/// The page, the table of contents or the search result, as high as its content. `pointed_area` is the
/// heading at which the panel is open.
Picture draw_manual(const DrawContext& context, const ManualPanel& panel);
/// The current location for the line above the page: "Models › Effects".
std::string breadcrumb(const ManualPanel& panel);

} // namespace headscope::app
