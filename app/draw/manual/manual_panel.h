#pragma once

#include "app/draw/kit/picture.h"
#include "core/manual/place.h"
#include "core/manual/search.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// The manual as the window has it.
struct ManualPanel {
    bool open = false;
    manual::Place at; ///< without a page: the table of contents
    std::string search;
    bool typing = false;        ///< its field has the keyboard
    bool take_keyboard = false; ///< its field asks for the keyboard
    float scroll = 0;           ///< of the page, logical pixels
    /// Where the next frame scrolls to; below zero: to the heading that it is open at.
    std::optional<float> scroll_to;
    /// What was found last, and for which words; see look_up().
    std::shared_ptr<const std::vector<manual::Found>> found;
    std::string found_for;

    struct Visit {
        manual::Place place;
        float scroll;
    };
    std::vector<Visit> back, ahead; ///< the newest last
};

inline constexpr float manual_pad = 24;

/// Goes to a place, which is remembered for going back. Throws Error(input) where there is no such heading.
void open_manual(ManualPanel& panel, const manual::Place& place);
/// Back (-1) or forth (+1) through the places that were looked at; at the end nothing.
void step_manual(ManualPanel& panel, int by);

/// What is found for the words in the field, looked up once for each text.
const std::vector<manual::Found>& look_up(ManualPanel& panel);

/// What fits what is on screen: its screen, else the stop of the strip, else the kind of document.
manual::Place place_of_screen(const Shown& shown, const ViewState& view);

/// The page, the table of contents, or what is found, as high as needed. `pointed` is the heading that the
/// panel is open at.
Picture draw_manual(const DrawContext& context, const ManualPanel& panel);
/// "Models › Effects": where the panel stands, for the line above the page.
std::string trail(const ManualPanel& panel);

} // namespace headscope::app
