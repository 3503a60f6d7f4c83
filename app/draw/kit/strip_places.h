#pragma once

#include "app/draw/kit/controls.h"

#include <cstddef>
#include <vector>

namespace headscope::app {

/// Where the names along a strip stand. Where not all fit, the current one stays in the middle, and each end
/// that names go on beyond leaves its last pixels to a step that way.
struct StripPlaces {
    std::vector<float> left;             ///< of each name
    float first = 0, last = 0;           ///< the part of the strip whose clicks go to names
    bool before = false, behind = false; ///< names go on beyond the left end, beyond the right one
};
StripPlaces strip_places(const std::vector<float>& widths, float gap, float edge, float room,
                         std::size_t current);

/// What is to be clicked of a name, from `left` on: nothing that lies under a step. Empty: nothing is.
figure::Rect name_spot(const StripPlaces& places, float left, float width, float height);

/// The steps at those ends that names go on beyond. `before`, `behind`: what a click does.
void draw_strip_steps(Picture& picture, const Theme& theme, const StripPlaces& places, float width,
                      float height, const Hotspot& before, const Hotspot& behind);

} // namespace headscope::app
