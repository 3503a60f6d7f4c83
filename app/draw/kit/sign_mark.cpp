#include "app/draw/kit/sign_mark.h"

#include <algorithm>

namespace headscope::app {

bool needs_minus_mark(double share) {
    constexpr double seen = 0.05;
    return share < -seen;
}

void draw_minus_mark(Picture& picture, const figure::Rect& cell, double share, figure::Color fill) {
    constexpr float narrowest = 5, longest = 10, thick = 2;
    if (!needs_minus_mark(share) || cell.w < narrowest || cell.h < narrowest)
        return;
    const float length = std::clamp(cell.w * 0.4F, 3.0F, longest);
    picture.scene.add(figure::RectItem{
        .area = {cell.x + (cell.w - length) / 2, cell.y + (cell.h - thick) / 2, length, thick},
        .fill = text_on(fill)});
}

} // namespace headscope::app
