#include "app/draw/matrix/product_overview.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/matrix_image.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float map_name_height = 18, map_legend_height = 40, least_side = 56, largest_side = 240,
                thinnest = 24;

/// The position of a range of cells along a side of the overview.
struct MapSpan {
    MapSpan(const ProductWindow::Range& range, float start, float side)
        : begin(start + side * static_cast<float>(range.first) / static_cast<float>(range.all)),
          length(side * static_cast<float>(range.count) / static_cast<float>(range.all)) {
        constexpr float least = 6; // minimum size of a visible frame
        begin -= std::max((least - length) / 2, 0.0F);
        length = std::max(length, least);
    }
    float begin, length;
};

std::string name_of_map(const DrawContext& context, const ProductSpec& spec, float width) {
    const std::string long_name = tr("product_overview.all", "all of {}", spec.right_name);
    return context.measure(long_name, figure::Font::mono, 12) <= width ? long_name : spec.right_name;
}

} // namespace

bool draw_product_overview(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                           const ProductWindow& window, const figure::Rect& corner) {
    const float most_w = std::min(corner.w, largest_side),
                most_h = std::min(corner.h - map_name_height - map_legend_height, largest_side);
    if (!context.controls || most_w < least_side || most_h < least_side)
        return false;
    const auto rows = static_cast<float>(spec.right.rows), cols = static_cast<float>(spec.right.cols);
    const float scale = std::min(most_w / cols, most_h / rows);
    const figure::Rect area{corner.x, corner.y + map_name_height,
                            std::max(std::floor(cols * scale), thinnest),
                            std::max(std::floor(rows * scale), thinnest)};
    const DrawContext factors = factor_context(context);
    MatrixSpec whole = spec.right;
    whole.fill = CellFill::diverging;
    whole.high = largest_magnitude(factors, whole.tensor, whole.origin[0]);
    whole.cell_w = area.w / cols;
    whole.cell_h = area.h / rows;
    draw_text(picture, context, area.x, corner.y + 10, name_of_map(context, spec, corner.w),
              figure::Font::mono, 12, context.theme.muted);
    draw_matrix_image(picture, factors, whole, area);
    const MapSpan across(window.cols, area.x, area.w), down(window.inner, area.y, area.h);
    const figure::Rect frame{across.begin, down.begin, across.length, down.length};
    picture.scene.add(figure::RectItem{.area = {frame.x - 1, frame.y - 1, frame.w + 2, frame.h + 2},
                                       .stroke = context.theme.canvas});
    picture.scene.add(figure::RectItem{.area = frame, .stroke = context.theme.ink, .stroke_width = 2});
    draw_legend(picture, context, area.x, area.bottom() + 8, std::min(corner.w, 120.0F),
                context.theme.diverging, -whole.high, whole.high, "", false);
    const auto choose = [origin = spec.right](figure::Point at) -> Action {
        const auto place = [](float share, std::int64_t count) {
            return std::min(static_cast<std::int64_t>(share * static_cast<float>(count)), count - 1);
        };
        CellAddress cell{origin.tensor, origin.origin};
        cell.at[static_cast<std::size_t>(origin.row_axis)] += place(at.y, origin.rows);
        cell.at[static_cast<std::size_t>(origin.col_axis)] += place(at.x, origin.cols);
        return Select{cell};
    };
    const auto middle = [](const ProductWindow::Range& range) {
        return (static_cast<float>(range.first) + static_cast<float>(range.count) / 2) /
               static_cast<float>(range.all);
    };
    picture.drags.push_back(
        {.area = area,
         .label = "all of " + spec.right_name,
         .reference_area = area,
         .dragged = [choose](figure::Point, figure::Point to) { return choose(to); },
         .clicked = choose,
         .tip = tr("product_overview.pixel_largest_numbers",
                   "{}, {} × {}: each pixel shows the largest of its numbers. The frame marks the visible "
                   "part; click to move it.",
                   spec.right_name, grouped(spec.right.rows), grouped(spec.right.cols)),
         .stepped =
             [choose, window,
              at = figure::Point{middle(window.cols), middle(window.inner)}](const ControlSteps& steps) {
                 const auto by = [](const ProductWindow::Range& range, int pages) {
                     return static_cast<float>(range.count * pages) / static_cast<float>(range.all);
                 };
                 return choose({std::clamp(at.x + by(window.cols, steps.across), 0.0F, 1.0F),
                                std::clamp(at.y - by(window.inner, steps.up), 0.0F, 1.0F)});
             }});
    return true;
}

} // namespace headscope::app
