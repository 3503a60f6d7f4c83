#pragma once

#include "app/draw/kit/controls.h"

#include <cstddef>
#include <vector>

namespace headscope::app {

/// The positions of the names along a strip. If they do not all fit, the current one stays in the center, and
/// a button that steps to the next name covers each end beyond which there are more names.
struct StripLayout {
    std::vector<float> left;   ///< left edge of each name
    float first = 0, last = 0; ///< the clickable part of the strip between the buttons
    bool more_before = false,
         more_after = false; ///< there are more names beyond the left end; beyond the right end
};
StripLayout lay_out_strip(const std::vector<float>& widths, float gap, float edge, float room,
                          std::size_t current);

/// The clickable area of a name with that left edge, without the part under a button. Its width is 0 if
/// nothing of it is clickable.
figure::Rect clickable_name_area(const StripLayout& places, float left, float width, float height);

/// Draws the buttons at the ends beyond which there are more names. `before`, `behind`: their actions.
void draw_strip_buttons(Picture& picture, const Theme& theme, const StripLayout& places, float width,
                        float height, const Hotspot& before, const Hotspot& behind);

} // namespace headscope::app
