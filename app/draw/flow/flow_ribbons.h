#pragma once

#include "core/figure/scene.h"

namespace headscope::app {

/// One end of a ribbon: a vertical edge.
struct RibbonEnd {
    float x = 0, top = 0, bottom = 0;
    figure::Color color = 0;
};

/// The end of a ribbon of that height in the middle of a row, at its right or left edge.
RibbonEnd right_of(const figure::Rect& row, figure::Color color, float height);
RibbonEnd left_of(const figure::Rect& row, figure::Color color, float height);

/// A ribbon from left to right that leaves and arrives horizontally; straight if both ends have the same
/// height.
figure::BandItem ribbon(const RibbonEnd& from, const RibbonEnd& to);
/// The first part of it, up to the fraction `t` of its length.
figure::BandItem ribbon_part(const RibbonEnd& from, const RibbonEnd& to, float t);
/// The middle of a ribbon at the fraction `t` of its length.
figure::Point on_ribbon(const RibbonEnd& from, const RibbonEnd& to, float t);

/// A strand that runs right from `from` and turns up or down into `to`, with a round corner.
figure::BandItem turning_strand(figure::Point from, figure::Point to, float thickness,
                                figure::Color from_color, figure::Color to_color);
/// The end of a strand: the fraction `t` of it has been drawn. See turning_strand().
figure::BandItem strand_part(const figure::BandItem& strand, float t);

} // namespace headscope::app
