#pragma once

#include "app/draw/matrix/product.h"

namespace headscope::app {

/// Each factor of a checkpoint's product shown in parts has at least this many columns, in smaller cells if
/// need be.
inline constexpr std::int64_t fewest_columns = 16;

/// The visible part of a product that is too large for numbers: rows of the result, columns of the left
/// factor (which are rows of the right one), columns of the result. It contains the selected cell, so that a
/// click never moves it, and for a selected result its largest term.
struct ProductWindow {
    struct Range {
        std::int64_t first = 0, count = 0, all = 0;
    };
    Range rows, inner, cols;
};

/// The window if `wide` columns and `high` rows fit in total, next to and below each other, and at most
/// `most_inner` columns of the left factor.
ProductWindow product_window(const DrawContext& context, const ProductSpec& spec, std::int64_t wide,
                             std::int64_t high, std::int64_t most_inner);

/// The product of only that part; everything else is unchanged.
ProductSpec windowed(const ProductSpec& spec, const ProductWindow& window);

/// The height that draw_pager needs: one line of 30 pixels, or a line for each range that is not shown whole
/// if their parts do not fit side by side. Without a window: the largest that it may need.
float pager_height(const DrawContext& context, const ProductSpec& spec, const ProductWindow& window,
                   float width);
float pager_height(const DrawContext& context, const ProductSpec& spec, float width);
/// Shows which part is visible, with controls to select the next and previous parts.
void draw_pager(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                const ProductWindow& window, float x, float y);

} // namespace headscope::app
