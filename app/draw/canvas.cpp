#include "app/draw/matrix.h"
#include "app/draw/pages.h"

namespace headscope {

namespace {

Picture draw_page(const DrawContext& context) {
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

} // namespace

Picture draw_canvas(const DrawContext& context) {
    Picture picture = draw_page(context);
    draw_outlines(picture, context);
    return picture;
}

} // namespace headscope
