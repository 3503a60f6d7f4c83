#include "app/draw/matrix/product_legends.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

float draw_legend_lines(Picture& picture, const DrawContext& context, const std::vector<Legend>& legends,
                        float x, float y) {
    constexpr float bar = 120, before = 16, apart = 28, line = 40, sample = 44;
    const auto wide = [&](const Legend& legend) {
        return bar + before + context.measure(legend.name, figure::Font::ui, 12.5F) +
               (legend.masked
                    ? sample + context.measure(tr("common.masked", "masked"), figure::Font::ui, 12.5F)
                    : 0.0F);
    };
    const float end = context.width - canvas_pad;
    for (const Legend& legend : legends)
        x = std::max(std::min(x, end - wide(legend)), canvas_pad);
    float at = x;
    for (const Legend& legend : legends) {
        const float width = wide(legend);
        if (at > x && at + width > end)
            at = x, y += line;
        draw_legend(picture, context, at, y, bar, legend.ramp, legend.low, legend.high, legend.name,
                    legend.masked);
        at += width + apart;
    }
    return y + line;
}

float draw_small_cell_legends(Picture& picture, const DrawContext& context, const ProductLayout& layout) {
    std::vector<Legend> legends;
    float x = layout.result.area.x;
    for (const MatrixGrid* grid : {&layout.left, &layout.right, &layout.result})
        if (grid->heatmap) {
            const std::string name(tensor_info(grid->tensor).name);
            legends.push_back({grid == &layout.result ? difference_name(context, name) : name,
                               context.theme.diverging, -grid->high, grid->high});
            x = std::min(x, grid->area.x);
        }
    const float y = layout.area.bottom();
    return legends.empty() ? y : draw_legend_lines(picture, context, legends, x, y + 16);
}

ProductAndLegends draw_product_above_legends(Picture& picture, const DrawContext& context,
                                             const ProductSpec& spec, const figure::Rect& room, float below) {
    struct Drawn {
        Picture picture;
        ProductLayout layout;
        float end;
    };
    const auto drawn_above = [&](float height) {
        Drawn drawn;
        drawn.layout = draw_product(drawn.picture, context, spec, {room.x, room.y, room.w, room.h - height});
        drawn.end = draw_small_cell_legends(drawn.picture, context, drawn.layout);
        return drawn;
    };
    // The legends depend on the size of the cells, which depends on the height left by the legends.
    Drawn drawn = drawn_above(below);
    if (const float wanted = drawn.end - drawn.layout.area.bottom(); wanted > below)
        drawn = drawn_above(wanted);
    picture.append(std::move(drawn.picture), 0, 0);
    return {drawn.layout, drawn.end};
}

} // namespace headscope::app
