#pragma once

#include "app/draw/kit/picture.h"

#include <span>

namespace headscope::app {

/// What a line of text covers. Of a turned one: what its corners span.
figure::Rect text_area(const figure::TextItem& text, const figure::TextMeasure& measure);
bool overlap(const figure::Rect& a, const figure::Rect& b);
/// Where a label of that size (x wide, y high) stands near its thing and covers nothing of what is taken: at
/// a side or a corner of it, else farther out; at its right where all is taken.
figure::Rect free_place_beside(const figure::Rect& thing, figure::Point size,
                               std::span<const figure::Rect> taken);

/// Where a picture leaves room for something that lies over it.
class FreePaper {
public:
    /// `area`: the part of the picture that is seen.
    FreePaper(const Picture& picture, const figure::TextMeasure& measure, const figure::Rect& area);

    /// Counts for much more than all else that may be covered.
    void protect(const figure::Rect& thing) { taken_.push_back({thing, protected_weight}); }
    /// Returns how much of it covers content, mainly matrix cells; 0 where there is none.
    float covered(const figure::Rect& by) const;
    /// The place for something of the size of `wanted` that covers least, and of those the one nearest to
    /// `wanted`. It stands at a margin of the area or in the middle.
    figure::Rect place(const figure::Rect& wanted) const;

private:
    static constexpr float protected_weight = 1000;
    /// Data counts for more than the words around it.
    static constexpr float data_weight = 30;
    struct Taken {
        figure::Rect area;
        float weight = 1;
    };
    void take(const figure::Rect& area, float weight = 1);

    figure::Rect area_;
    std::vector<Taken> taken_;
};

} // namespace headscope::app
