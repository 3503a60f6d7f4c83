#pragma once

#include "app/draw/matrix/product.h"

namespace headscope::app {

/// Which part of a product too large for numbers is drawn: rows of the result, columns of the left factor
/// (which are rows of the right one), columns of the result. The part that holds the selected cell, so that a
/// click never moves it, and of a selected result its largest term.
struct ProductWindow {
    struct Range {
        std::int64_t first = 0, count = 0, all = 0;
    };
    Range rows, inner, cols;
};

/// The window for cells of cell_w x cell_h, of which `wide` columns and `high` rows fit beside and under each
/// other in all, and at most `most_inner` columns of the left factor.
ProductWindow product_window(const DrawContext& context, const ProductSpec& spec, std::int64_t wide,
                             std::int64_t high, std::int64_t most_inner);

/// The product of that part alone; everything else about it stays.
ProductSpec windowed(const ProductSpec& spec, const ProductWindow& window);

/// The room that draw_pager may need: one line of 30, or three where they do not fit side by side.
float pager_height(const DrawContext& context, const ProductSpec& spec, float width);
/// Says what is shown of how much, and turns the pages.
void draw_pager(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                const ProductWindow& window, float x, float y);

} // namespace headscope::app
