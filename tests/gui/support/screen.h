#pragma once

#include "app/shell/ui.h"
#include "app/views/controls/items.h"
#include "core/figure/scene.h"

#include <string>
#include <vector>

namespace headscope::test {

using namespace headscope::app;

/// What the frame drawn last put on screen, as a NullSurface is told. Positions in physical pixels.
struct ScreenItem {
    unsigned int id = 0;
    std::string label;  ///< as the code gives it, "##" part included; empty for an item without one
    std::string window; ///< name of the ImGui window that holds it
    figure::Rect area;
    figure::Rect clip; ///< what of the window can be seen

    float middle_x() const { return area.x + area.w / 2; }
    float middle_y() const { return area.y + area.h / 2; }
    /// Whether the mouse can be put on its middle.
    bool reachable() const { return clip.contains(middle_x(), middle_y()); }
};

struct ScreenText {
    std::string text;
    float x = 0, y = 0;   ///< where its baseline begins, is centred or ends
    bool visible = false; ///< the baseline's point lies inside the window's clip
};

/// What every NullSurface tells.
ScreenObserver& screen_recorder();
void begin_recording();
void end_recording();
const std::vector<ScreenItem>& screen_items();
const std::vector<ScreenText>& screen_texts();
/// Whether some visible line of text holds `part`.
bool screen_shows(std::string_view part);
/// What the text field with this label was given to show; empty without such a field.
std::string field_text(const std::string& label);

} // namespace headscope::test
