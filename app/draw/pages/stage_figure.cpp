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
    const GroupInfo& group = group_info(view.group);
    return group.page == Page::weights && view.heads_view == HeadsView::mean
               ? TensorId::weights_mean
               : group.by_projection[static_cast<std::size_t>(view.projection)];
}

} // namespace headscope::app
