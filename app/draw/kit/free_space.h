#pragma once

#include "app/draw/kit/picture.h"

#include <limits>
#include <span>

namespace headscope::app {

/// The area that a line of text covers. For rotated text: the bounding box of its corners.
figure::Rect text_area(const figure::TextItem& text, const figure::TextMeasure& measure);
bool overlap(const figure::Rect& a, const figure::Rect& b);
/// The position of a label (size.x wide, size.y high) next to an item so that it covers none of the areas in
/// `taken`: at a side or corner of the item, otherwise farther out; at its right if all positions are taken.
figure::Rect free_position_next_to(const figure::Rect& thing, figure::Point size,
                                   std::span<const figure::Rect> taken);

/// Finds free space in a picture for something placed over it.
class FreeSpace {
public:
    /// `area`: the visible part of the picture.
    FreeSpace(const Picture& picture, const figure::TextMeasure& measure, const figure::Rect& area);

    /// Protects an area: covering it counts far more than covering anything else.
    void protect(const figure::Rect& thing) { taken_.push_back({thing, protected_weight}); }
    /// The weighted area of the content that `by` would cover, mainly matrix cells; 0 if the space is free.
    /// Stops adding beyond `most`.
    float covered_weight(const figure::Rect& by, float most = std::numeric_limits<float>::infinity()) const;
    /// The position for a rectangle of the size of `wanted` that covers least content, and among those the
    /// one nearest to `wanted`. Candidates are `wanted` itself and, at every height, the left margin, the
    /// center and the right margin of the area.
    figure::Rect place(const figure::Rect& wanted) const;

private:
    static constexpr float protected_weight = 1000;
    /// Data counts more than the words around it.
    static constexpr float data_weight = 30;
    struct Taken {
        figure::Rect area;
        float weight = 1;
    };
    void add_taken(const figure::Rect& area, float weight = 1);

    figure::Rect area_;
    std::vector<Taken> taken_;
};

} // namespace headscope::app
