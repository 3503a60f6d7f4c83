#include "app/draw/kit/controls.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/pages.h"
#include "app/state/model_document.h"

namespace headscope::app {

namespace {

Segment view_segment(const ViewState& view, const char* label, WeightsView as) {
    return {label, ViewChange(ShowWeightsAs{as}), view.weights_view == as, {}};
}

Segment heads_segment(const ViewState& view, const std::string& label, HeadsView as, const char* tip) {
    return {label, ViewChange(ShowHeads{as}), view.heads_view == as, tip};
}

/// A switch says its state, not what a click does.
std::string named(const char* what, bool on) {
    return std::string(what) + (on ? ": on" : ": off");
}

/// Draws the buttons for colour scale, colour map and mask painting, from right to left. Returns their left
/// edge.
float draw_colour_buttons(Picture& picture, const DrawContext& context) {
    const ViewState& view = context.view;
    float right = context.width - canvas_pad;
    const auto add = [&](const std::string& label, bool on, const Action& action, const std::string& tip) {
        right -= context.measure(label, figure::Font::ui_medium, 12.5F) + 16;
        draw_text_button(picture, context, right, 62, label, on, action, tip);
        right -= 8;
    };
    if (context.dims().H > 1)
        add(named("Same scale", view.same_scale), view.same_scale, ViewChange(SetSameScale{!view.same_scale}),
            view.same_scale ? "One colour scale for all heads; click to give each head its own"
                            : "Each head has its own colour scale; click for one that all heads share");
    constexpr const char* names[] = {"by head", "neutral", "viridis", "cividis", "magma"};
    const auto map = static_cast<std::size_t>(view.colour_map);
    add(std::string("Colours: ") + names[map], false,
        ViewChange(SetColourMap{static_cast<ColourMap>((map + 1) % std::size(names))}),
        "The colours of the maps; click for the next ones: by head, neutral, viridis, cividis, magma");
    if (context.shown.document->is_checkpoint())
        return right; // the mask is the model's
    const MaskBrush& brush = view.brush;
    add(named("Paint mask", brush.on), brush.on, ViewChange(PaintMode{!brush.on, brush.all_heads}),
        brush.on ? "A click forbids or allows a cell; switch this off to select cells again"
                 : "Switch this on to forbid or allow cells by a click or a drag");
    if (brush.on && context.dims().H > 1)
        add(named("All heads", brush.all_heads), brush.all_heads,
            ViewChange(PaintMode{true, !brush.all_heads}),
            brush.all_heads ? "Every head is painted at once" : "Only the head that is clicked is painted");
    if (project::painted_mask_fits(context.shown.document->recipe, context.dims()))
        add("Reset mask", false, Command(ResetMask{}), "The mask as it was chosen in the toolbar");
    return right;
}

} // namespace

float draw_weights_switches(Picture& picture, const DrawContext& context) {
    float beside = context.width; // left edge of the switches beside the formula
    if (context.shown.document->has_board() && context.view.group == StageGroup::weights) {
        draw_head_switches(picture, context);
        return beside;
    }
    const ViewState& view = context.view;
    const bool weights = view.group == StageGroup::weights;
    float right = context.width - canvas_pad;
    float heads_y = 28;
    std::string title(tensor_info(group_info(view.group).main).title);
    if (context.shown.document->has_board())
        title += " of " + open_head_name(*context.shown.document, view.head);
    const float title_end = canvas_pad + context.measure(title, figure::Font::ui_semibold, 22) + 24;
    if (weights) {
        const std::vector<Segment> ways{view_segment(view, "Heatmap", WeightsView::heatmap),
                                        view_segment(view, "Arcs", WeightsView::arcs),
                                        view_segment(view, "Text", WeightsView::text),
                                        view_segment(view, "Graph", WeightsView::graph)};
        right -= segmented_width(context, ways);
        draw_segmented(picture, context, right, 28, ways);
        right -= 12;
    }
    const Document& document = *context.shown.document;
    if (document.is_checkpoint() && view.attention.stack == checkpoint::Stack::own &&
        (view.group == StageGroup::scores || view.group == StageGroup::scaled)) {
        const std::vector<Segment> ways{
            {.label = "Score map", .action = ViewChange(GoTo{view.group}), .on = true, .tip = {}},
            {.label = "Taken apart",
             .action = ViewChange(AttentionChange(ShowScreen{Screen::why})),
             .on = false,
             .tip = "Who wrote what the selected score is made of"}};
        right -= segmented_width(context, ways);
        draw_segmented(picture, context, right, 28, ways);
        right -= 12;
    }
    const std::int64_t H = context.dims().H;
    if (H > 1) {
        const std::string pair = "Head " + std::to_string(view.head) + " − " + std::to_string(view.other);
        std::vector<Segment> heads{
            heads_segment(view, "Each head", HeadsView::each, "One map per head"),
            heads_segment(view, pair, HeadsView::difference,
                          "The difference of two heads; press a number to pick the first")};
        if (weights)
            heads.push_back(heads_segment(view, "Mean", HeadsView::mean, "The average over all heads"));
        else if (view.heads_view == HeadsView::mean)
            heads.push_back(heads_segment(view, "Mean", HeadsView::mean, "The average over all heads"));
        // If both switches do not fit beside the title, the heads' switch goes below.
        if (right - segmented_width(context, heads) < title_end) {
            right = context.width - canvas_pad;
            heads_y = 62;
        }
        right -= segmented_width(context, heads);
        draw_segmented(picture, context, right, heads_y, heads);
        if (heads_y >= 62)
            beside = right;
    }
    const bool map_page = !weights || view.weights_view == WeightsView::heatmap;
    if (map_page && !context.difference() && view.heads_view == HeadsView::each && heads_y < 62)
        beside = draw_colour_buttons(picture, context);
    if (view.heads_view == HeadsView::difference && H > 2 && heads_y < 62) {
        float x = context.width - canvas_pad;
        for (std::int64_t h = H - 1; h >= 0 && h > H - 17; --h) {
            if (h == view.head)
                continue;
            const std::string label = "− " + std::to_string(h);
            x -= context.measure(label, figure::Font::ui_medium, 12.5F) + 16;
            draw_text_button(picture, context, x, 62, label, h == view.other, ViewChange(CompareWith{h}),
                             "Subtract head " + std::to_string(h));
            x -= 4;
        }
        beside = x;
    }
    return beside;
}

} // namespace headscope::app
