#include "app/draw/kit/strip_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headscope::app {

namespace {

constexpr float step_width = 16.0F;

} // namespace

StripLayout lay_out_strip(const std::vector<float>& widths, float gap, float edge, float room,
                          std::size_t current) {
    const float all = std::reduce(widths.begin(), widths.end());
    const float length = all + gap * static_cast<float>(widths.size() - 1) + 2 * edge;
    const float middle = edge +
                         std::reduce(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(current)) +
                         gap * static_cast<float>(current) + widths[current] / 2;
    const float passed_by = std::clamp(middle - room / 2, 0.0F, std::max(length - room, 0.0F));
    StripLayout places;
    places.more_before = passed_by > 0;
    places.more_after = length - room > passed_by;
    places.first = places.more_before ? step_width : 0;
    places.last = places.more_after ? room - step_width : room;
    float x = edge - passed_by;
    for (const float width : widths) {
        places.left.push_back(x);
        x += width + gap;
    }
    return places;
}

figure::Rect clickable_name_area(const StripLayout& places, float left, float width, float height) {
    const float from = std::max(left, places.first), to = std::min(left + width, places.last);
    return {from, 0, std::max(to - from, 0.0F), height};
}

void draw_strip_buttons(Picture& picture, const Theme& theme, const StripLayout& places, float width,
                        float height, const Hotspot& before, const Hotspot& behind) {
    const auto step = [&](float left, Pointing where, Hotspot spot) {
        const float tip = where == Pointing::left ? left + 5 : left + step_width - 5;
        picture.scene.add(figure::RectItem{.area = {left, 0, step_width, height - 1}, .fill = theme.canvas});
        draw_chevron(picture.scene, {tip, height / 2}, where, theme.ink);
        spot.area = {left, 0, step_width, height};
        picture.hotspots.push_back(std::move(spot));
    };
    if (places.more_before)
        step(0, Pointing::left, before);
    if (places.more_after)
        step(width - step_width, Pointing::right, behind);
}

} // namespace headscope::app
