#include "app/draw/effects/signed_cells.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sign_mark.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

figure::Color signed_colour(const Theme& theme, double value, double limit) {
    return ramp_color(theme.diverging, static_cast<float>(0.5 + 0.5 * value / std::max(limit, 1e-12)));
}

figure::Color sign_colour(const Theme& theme, double value) {
    return ramp_color(theme.diverging, value < 0 ? 0.1F : 0.9F);
}

void draw_signed_cell(Picture& picture, const DrawContext& context, const figure::Rect& area, double value,
                      double limit, bool numbers, int decimals, float marks) {
    const figure::Color fill = signed_colour(context.theme, value, limit);
    picture.scene.add(figure::RectItem{.area = area, .fill = fill});
    if (!numbers)
        return draw_minus_mark(picture, area, value / std::max(limit, 1e-12), fill);
    std::string words = number(value, decimals);
    const float room = area.w - marks - 2;
    while (marks > 0 && decimals > 0 && context.measure(words, figure::Font::mono, 12) > room)
        words = number(value, --decimals);
    draw_text(picture, context, area.x + marks + (area.w - marks) / 2,
              figure::baseline_for(area.y + area.h / 2, 12), words, figure::Font::mono, 12, text_on(fill),
              figure::Align::center);
}

void draw_selected_cell(Picture& picture, const Theme& theme, const figure::Rect& area) {
    // The outline is outside the cell, whose number may fill it.
    const auto around = [&](float by) {
        return figure::Rect{area.x - by, area.y - by, area.w + 2 * by, area.h + 2 * by};
    };
    picture.scene.add(figure::RectItem{.area = around(2.5F), .stroke = theme.canvas, .stroke_width = 2});
    picture.scene.add(figure::RectItem{.area = around(1.25F), .stroke = theme.ink, .stroke_width = 2.5F});
}

void draw_ramp(Picture& picture, const Ramp& ramp, float x, float y, float width) {
    constexpr int steps = 64;
    for (int n = 0; n < steps; ++n)
        picture.scene.add(
            figure::RectItem{.area = {x + width * static_cast<float>(n) / steps, y, width / steps + 0.5F, 8},
                             .fill = ramp_color(ramp, (static_cast<float>(n) + 0.5F) / steps)});
}

void draw_signed_bar(Picture& picture, const Theme& theme, const figure::Rect& area, double value,
                     double limit) {
    const float zero = area.x + area.w / 2, middle = area.y + area.h / 2;
    const auto length =
        static_cast<float>(std::min(std::abs(value) / std::max(limit, 1e-12), 1.0)) * area.w / 2;
    picture.scene.add(
        figure::RectItem{.area = {value < 0 ? zero - length : zero, middle - 5, std::max(length, 1.0F), 10},
                         .fill = sign_colour(theme, value)});
    picture.scene.add(figure::LineItem{{zero, middle - 8}, {zero, middle + 8}, theme.line2, 1});
}

} // namespace headscope::app
