#pragma once

#include "app/state/view_state.h"
#include "core/figure/scene.h"

#include <array>
#include <span>

namespace headscope::app {

/// A color map as 256 colors, from the lower end to the upper end.
using Ramp = std::array<figure::Color, 256>;

/// The color of t in [0, 1]; other values are clamped.
figure::Color ramp_color(const Ramp& ramp, float t);

/// Interpolates between evenly spaced colors in Oklab (Ottosson 2020, "A perceptual color space for image
/// processing").
Ramp make_ramp(std::span<const figure::Color> stops);

/// The text color on a cell, by the rule of assets/theme/tokens.json: white if its WCAG 2 contrast is at
/// least 4.5, otherwise black.
figure::Color text_on(figure::Color cell);

/// The WCAG 2 contrast ratio of two opaque colors, 1 to 21.
float contrast(figure::Color a, figure::Color b);

struct HeadColours {
    figure::Color colour = 0; ///< bars, arcs, bold marks
    figure::Color tint = 0;   ///< background of numbers in matrices that the head owns
    Ramp ramp{};              ///< for the head's heatmaps
};

inline constexpr int coloured_heads = 8; ///< with more heads than this, heads have no colors of their own

/// One of the two themes, read from assets/theme/tokens.json.
struct Theme {
    bool dark = false;
    figure::Color canvas = 0, panel = 0, raise = 0, line = 0, line2 = 0, ink = 0, text = 0, muted = 0,
                  highlight = 0, good = 0, bad = 0, good_back = 0, bad_back = 0, cell = 0, pointer = 0;
    std::array<HeadColours, coloured_heads> heads;
    HeadColours no_head;    ///< for all heads if there are more than coloured_heads: the neutral ramp
    Ramp head_background{}; ///< background of a head on the atlas; marks on it stay readable
    Ramp order{};           ///< for ordered items such as layers
    Ramp neutral{}, diverging{}, viridis{}, cividis{}, magma{};

    /// The colors of head h of H.
    const HeadColours& head(std::int64_t h, std::int64_t H) const;
    /// The ramp of head h's heatmap.
    const Ramp& heat(std::int64_t h, std::int64_t H, ColourMap map) const;
};

/// A theme, created once and kept until the program ends. Throws Error(internal) if the asset is damaged.
const Theme& theme(bool dark);

} // namespace headscope::app
