#include "app/draw/pages/stage_figure.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/map/long_map.h"
#include "app/draw/pages/pages.h"
#include "app/state/model_document.h"
#include "app/state/screens/screen.h"
#include "core/base/message.h"
#include "core/figure/crop.h"
#include "core/text/one_line.h"
#include "core/text/plain_text.h"

namespace headscope::app {

namespace {

constexpr float margin = 24, caption_size = 12, caption_room = 26;

/// The caption: stage, document and text, because the view's title contains only the head.
std::string caption_of(const Shown& shown, const ViewState& view) {
    constexpr int most = 60;
    const Document& document = *shown.document;
    if (document.is_experiment())
        return {};
    std::string caption = text::plain_text(document.title);
    if (screen_of(shown, view) == Screen::stages)
        caption = tr(group_info(view.group).title) + ", " + caption;
    if (document.is_checkpoint())
        for (const std::string* const text : {&document.part()->prompt, &document.part()->pair})
            if (!text->empty())
                caption += (text == &document.part()->prompt ? ": " : ", ") +
                           tr("common.text", "“{}”",
                              shortened(text::plain_text(text::with_control_signs(*text)), most));
    return caption;
}

/// Describes the visible part of a long map, and how much of the map was read.
std::string map_caption_of(const Shown& shown, const ViewState& view) {
    if (screen_of(shown, view) != Screen::map || shown.map == nullptr || !shown.map->error.empty())
        return {};
    const LongMap& map = *shown.map;
    const std::string place = map_place_text(map, view.attention.long_map);
    const bool complete = map.overview != nullptr && map.overview->complete();
    // Translators: a line below a picture; {} is "the whole map: queries 0 to 5,999, keys 0 to 5,999"
    return complete ? tr("stage_figure.shown", "Shown: {}", place)
                    : tr("stage_figure.shown_map_read", "Shown: {}; {} of the map was read", place,
                         percent_text(static_cast<double>(map.fraction)));
}

} // namespace

figure::Scene stage_scene(const Shown& shown, const ViewState& view, const StageFigure& figure) {
    const figure::TextMeasure measure = figure::figure_measure();
    const Theme& colours = theme(view.dark);
    ViewState drawn = view;
    drawn.points.clear();
    DrawContext context{shown, drawn, colours, measure, figure.width, figure.height, false};
    context.heading = figure.title;
    context.head_grid = figure.head_grid;
    if (figure.all_heads && shown.document->has_head_grid())
        drawn.head = 0; // no head is in focus
    context.all_heads = figure.all_heads && shown.document->has_head_grid();
    if (!figure.fixed_width && screen_of(shown, view) == Screen::map)
        fit_figure_to_map(context);
    Picture picture = draw_canvas(context);
    if (!figure.fixed_width && picture.width_for_all_numbers > context.width) {
        context.width = picture.width_for_all_numbers;
        picture = draw_canvas(context);
    }
    const auto crop = [&] {
        if (figure.crop)
            picture.scene = figure::cropped(picture.scene, measure, colours.canvas, margin);
    };
    crop();
    for (const std::string& caption : {map_caption_of(shown, view), caption_of(shown, view)}) {
        if (caption.empty() || !figure.title)
            continue;
        const float x = figure.crop ? margin : canvas_pad;
        draw_text(picture, context, x, picture.scene.height, caption, figure::Font::ui, caption_size,
                  colours.muted);
        picture.scene.height += caption_room;
        crop();
    }
    return std::move(picture.scene);
}

figure::Point usual_figure_size(const Shown& shown, const ViewState& view) {
    const StageFigure usual;
    constexpr float flow_width = 1512;
    return {screen_of(shown, view) == Screen::flow ? flow_width : usual.width, usual.height};
}

figure::Color background_color(const ViewState& view, FigureBackground ground) {
    switch (ground) {
    case FigureBackground::theme:
        return theme(view.dark).canvas;
    case FigureBackground::white:
        return figure::rgb(0xFFFFFF);
    case FigureBackground::none:
        break;
    }
    return 0;
}

std::string stage_figure(const Shown& shown, const ViewState& view, const StageFigure& figure) {
    return figure::draw_figure(stage_scene(shown, view, figure), figure.format, figure.scale,
                               background_color(view, figure.background), figure.paper_scale);
}

TensorId stage_on_canvas(const ViewState& view) {
    const GroupInfo& group = group_info(view.group);
    return group.page == Page::weights && view.heads_view == HeadsView::mean
               ? TensorId::weights_mean
               : group.by_projection[static_cast<std::size_t>(view.projection)];
}

} // namespace headscope::app
