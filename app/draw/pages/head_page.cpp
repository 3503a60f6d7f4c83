#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/pages.h"
#include "app/draw/pages/weight_parts.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

// With more tokens than this, lines or words would be too small to read.
constexpr std::int64_t most_in_arcs = 128, most_in_text = 160, most_in_graph = 64;

/// The list of the largest weights, shown if there are too many tokens for a figure.
Picture draw_list_instead(const DrawContext& context, const std::string& too_many) {
    return draw_strongest_page(
        context, too_many + " " +
                     tr("head_page.listed_instead_largest_weights",
                        "Listed instead: the largest weights of one query, and of the whole head."));
}

Picture draw_chosen(const DrawContext& context) {
    const std::int64_t tokens = std::max(context.dims().Tq, context.dims().Tk);
    const std::string here = grouped(tokens);
    switch (context.view.weights_view) {
    case WeightsView::heatmap:
        return wants_large_map(context) && !context.difference() ? draw_large_map_page(context)
                                                                 : draw_heatmap_page(context);
    case WeightsView::arcs:
        return tokens <= most_in_arcs
                   ? draw_arcs_page(context)
                   : draw_list_instead(context, tr("head_page.arcs_read_up_tokens",
                                                   "Arcs can be read for up to {} tokens; here are {}.",
                                                   grouped(most_in_arcs), here));
    case WeightsView::text:
        return tokens <= most_in_text
                   ? draw_text_page(context)
                   : draw_list_instead(context, tr("head_page.text_read_up_tokens",
                                                   "Text can be read for up to {} tokens; here are {}.",
                                                   grouped(most_in_text), here));
    case WeightsView::graph:
        return tokens <= most_in_graph
                   ? draw_graph_page(context)
                   : draw_list_instead(context, tr("head_page.graph_read_up_tokens",
                                                   "A graph can be read for up to {} tokens; here are {}.",
                                                   grouped(most_in_graph), here));
    }
    return draw_heatmap_page(context);
}

} // namespace

void draw_head_switches(Picture& picture, const DrawContext& context) {
    const ViewState& view = context.view;
    const float right = context.width - canvas_pad;
    const std::vector<Segment> ways = view_segments(view);
    float x = right - segmented_width(context, ways);
    draw_segmented(picture, context, x, 28, ways);
    if (context.dims().H < 2)
        return;
    const Document& document = *context.shown.document;
    const std::string pair =
        head_column_name(document, view.head) + " − " + head_column_name(document, view.compared_head);
    const std::vector<Segment> choices{
        heads_segment(view, tr("head_page.head", "Head"), HeadsView::each,
                      tr("head_page.open_head", "The open head")),
        heads_segment(
            view, pair, HeadsView::difference,
            tr("head_page.open_head_minus_another", "The open head minus another one of its layer")),
        heads_segment(view, tr("common.mean", "Mean"), HeadsView::mean,
                      tr("head_page.average_over_all_heads", "The average over all heads of the layer"))};
    x = right - segmented_width(context, choices);
    draw_segmented(picture, context, x, 62, choices);
    if (view.heads_view != HeadsView::difference)
        return;
    const std::int64_t next =
        view.compared_head + 1 == view.head ? view.compared_head + 2 : view.compared_head + 1;
    const std::string label =
        tr("head_page.subtract", "Subtract {}", head_column_name(document, next % context.dims().H));
    x -= context.measure(label, figure::Font::ui_medium, 12.5F) + 24;
    if (x > canvas_pad + 8)
        draw_text_button(picture, context, x, 64, label, false, CompareWith{next % context.dims().H},
                         tr("head_page.subtract_next_head_layer", "Subtract the next head of the layer"));
}

Picture draw_head_page(const DrawContext& context) {
    Picture picture = draw_chosen(context);
    draw_reading_line(picture, context);
    return picture;
}

} // namespace headscope::app
