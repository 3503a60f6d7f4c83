#pragma once

#include "app/draw/kit/theme.h"
#include "app/draw/matrix/product.h"

#include <string>
#include <vector>

namespace headscope::app {

/// A color scale below a product.
struct Legend {
    std::string name;
    const Ramp& ramp;
    float low = 0, high = 1;
    bool masked = false;
};

/// Draws legends side by side from x on, in lines that end at the margin; starts further left if the widest
/// legend does not fit. Returns the lower edge.
float draw_legend_lines(Picture& picture, const DrawContext& context, const std::vector<Legend>& legends,
                        float x, float y);

/// Draws the color scales of those matrices of a product whose cells are too small for numbers. Returns the
/// lower edge.
float draw_small_cell_legends(Picture& picture, const DrawContext& context, const ProductLayout& layout);

struct ProductAndLegends {
    ProductLayout layout;
    float end; ///< the lower edge of the legends
};

/// Draws a product and the color scales of its small cells, all in `room` if the smallest cells allow that.
/// At least `below` pixels of the room are left below the product.
ProductAndLegends draw_product_above_legends(Picture& picture, const DrawContext& context,
                                             const ProductSpec& spec, const figure::Rect& room, float below);

} // namespace headscope::app
