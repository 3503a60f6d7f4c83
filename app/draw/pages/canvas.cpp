#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/flash.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/pages.h"

#include <algorithm>

namespace headscope::app {

namespace {

Picture draw_page(const DrawContext& context) {
    const Document& document = *context.shown.document;
    if (document.shows_weights() || (document.is_checkpoint() && context.view.group == StageGroup::weights))
        return draw_head_page(context);
    switch (context.view.group) {
    case StageGroup::x:
        return draw_x_page(context);
    case StageGroup::qkv:
        return draw_projection_page(context);
    case StageGroup::split:
        return draw_split_page(context);
    case StageGroup::scores:
    case StageGroup::scaled:
    case StageGroup::masked:
        return draw_heatmap_page(context);
    case StageGroup::weights:
        switch (context.view.weights_view) {
        case WeightsView::heatmap:
            return draw_heatmap_page(context);
        case WeightsView::arcs:
            return draw_arcs_page(context);
        case WeightsView::text:
            return draw_text_page(context);
        case WeightsView::graph:
            return draw_graph_page(context);
        }
        return draw_heatmap_page(context);
    case StageGroup::head_out:
        return draw_head_out_page(context);
    case StageGroup::concat:
        return draw_concat_page(context);
    case StageGroup::contributions:
        return draw_contributions_page(context);
    case StageGroup::output:
    case StageGroup::none:
        return draw_output_page(context);
    }
    return {};
}

/// "1.00 → 1.70" above the number that is being dragged, out of the way of the column below it.
void draw_drag_tag(Picture& picture, const DrawContext& context) {
    const auto& drag = context.view.drag;
    if (!drag || !drag->moved)
        return;
    for (const MatrixGrid& grid : picture.grids) {
        const auto place = grid.tensor == drag->cell.tensor ? grid.find(drag->cell.at) : std::nullopt;
        if (!place)
            continue;
        const figure::Rect cell = grid.cell(place->first, place->second);
        const std::string text =
            number(static_cast<double>(drag->start_value), 2) + " → " +
            number(static_cast<double>(factor_context(context).shown.value(drag->cell)), 2);
        const float width = context.measure(text, figure::Font::mono, 13) + 20;
        const figure::Rect tag{std::max(cell.x + cell.w / 2 - width / 2, 4.0F), cell.y - 36, width, 28};
        picture.scene.add(figure::RectItem{
            .area = tag, .fill = context.theme.raise, .stroke = context.theme.ink, .radius = 5});
        picture.scene.add(figure::TextItem{{tag.x + 10, figure::baseline_for(tag.y + 14, 13)},
                                           text,
                                           figure::Font::mono,
                                           13,
                                           context.theme.ink});
        return;
    }
}

} // namespace

Picture draw_canvas(const DrawContext& context) {
    Picture picture = draw_page(context);
    draw_flash(picture, context);
    draw_outlines(picture, context);
    draw_selection(picture, context);
    draw_drag_tag(picture, context);
    return picture;
}

} // namespace headscope::app
