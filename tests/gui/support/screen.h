#pragma once

#include "app/shell/ui.h"
#include "app/views/controls/items.h"
#include "core/figure/scene.h"

#include <string>
#include <vector>

namespace headscope::test {

using namespace headscope::app;

/// An item that the last frame put on screen, as reported to NullSurface. Positions in physical pixels.
struct ScreenItem {
    unsigned int id = 0;
    std::string label;  ///< with its "##" part; empty for an item without a label
    std::string window; ///< name of the ImGui window that holds it
    figure::Rect area;
    figure::Rect clip; ///< the visible part of the window

    float middle_x() const { return area.x + area.w / 2; }
    float middle_y() const { return area.y + area.h / 2; }
    /// Returns true if the mouse can reach its middle.
    bool reachable() const { return clip.contains(middle_x(), middle_y()); }
};

struct ScreenText {
    std::string text;
    float x = 0, y = 0;   ///< the point where its baseline begins, is centered or ends
    bool visible = false; ///< true if that point is inside the window's clip rectangle
};

/// The observer that all NullSurfaces report to.
ScreenObserver& screen_recorder();
void begin_recording();
void end_recording();
const std::vector<ScreenItem>& screen_items();
const std::vector<ScreenText>& screen_texts();
/// Returns true if some visible line of text contains `part`.
bool screen_shows(std::string_view part);
/// Returns all visible texts, separated by spaces, for sentences that are broken into lines.
std::string screen_text();
/// Returns the text that the text field with this label shows; empty if there is no such field.
std::string field_text(const std::string& label);

} // namespace headscope::test
