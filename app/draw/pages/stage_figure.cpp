#include "app/draw/pages/stage_figure.h"

#include "app/draw/pages/pages.h"

namespace headscope::app {

std::string stage_figure(const Shown& shown, const ViewState& view, const StageFigure& figure) {
    const figure::TextMeasure measure = figure::figure_measure();
    const Theme& colours = theme(view.dark);
    DrawContext context{shown, view, colours, measure, figure.width, figure.height, false};
    Picture picture = draw_canvas(context);
    if (!figure.fixed_width && picture.wanted_width > context.width) {
        context.width = picture.wanted_width;
        picture = draw_canvas(context);
    }
    return figure::draw_figure(picture.scene, figure.format, figure.scale, colours.canvas);
}

TensorId stage_on_canvas(const ViewState& view) {
    const auto projected = [&](TensorId q, TensorId k, TensorId v) {
        return view.projection == Projection::q ? q : view.projection == Projection::k ? k : v;
    };
    switch (view.group) {
    case StageGroup::x:
        return TensorId::x;
    case StageGroup::qkv:
        return projected(TensorId::q, TensorId::k, TensorId::v);
    case StageGroup::split:
        return projected(TensorId::q_heads, TensorId::k_heads, TensorId::v_heads);
    case StageGroup::scores:
        return TensorId::scores;
    case StageGroup::scaled:
        return TensorId::scaled;
    case StageGroup::masked:
        return TensorId::masked;
    case StageGroup::weights:
        return view.heads_view == HeadsView::mean ? TensorId::weights_mean : TensorId::weights;
    case StageGroup::head_out:
        return TensorId::head_out;
    case StageGroup::concat:
        return TensorId::concat;
    case StageGroup::contributions:
        return TensorId::contributions;
    case StageGroup::output:
    case StageGroup::none:
        break;
    }
    return TensorId::output;
}

} // namespace headscope::app
