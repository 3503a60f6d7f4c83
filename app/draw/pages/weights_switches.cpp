#include "app/draw/kit/controls.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/pages.h"
#include "app/draw/pages/weight_parts.h"
#include "app/state/screens/screen.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// Draws the buttons for color scale, color map and mask painting, from right to left. A switch shows its
/// state, not the effect of a click. `all`: includes those that also have keys.
void draw_colour_buttons(Picture& picture, const DrawContext& context, float right, bool all) {
    const ViewState& view = context.view;
    const auto add = [&](const std::string& label, bool on, const Action& action, const std::string& tip) {
        const float width = context.measure(label, figure::Font::ui_medium, 12.5F) + 16;
        if (right - width < canvas_pad)
            return;
        right -= width;
        draw_text_button(picture, context, right, 62, label, on, action, tip);
        right -= 8;
    };
    if (shows_scores(view.group)) {
        static constexpr Message scales[] = {
            translatable("weights_switches.scale_row", "Scale: by row"),
            translatable("weights_switches.scale_head", "Scale: by head"),
            translatable("weights_switches.scale_all_heads", "Scale: all heads")};
        static constexpr Message tips[] = {
            translatable("weights_switches.colours_show_how_far",
                         "Colors show how far a score is below the largest of its row; click for a scale of "
                         "each head, then for one of all heads"),
            translatable("weights_switches.each_head_own_colour",
                         "Each head has its own color scale; click for one that all heads share"),
            translatable("weights_switches.one_colour_scale_all",
                         "One color scale for all heads; click to color each row by itself")};
        const auto scale = static_cast<std::size_t>(view.attention.score_scale);
        add(tr(scales[scale]), false, SetScoreScale{next_score_scale(view.attention.score_scale)},
            tr(tips[scale]));
    } else if (all && context.dims().H > 1)
        add(view.same_scale ? tr("weights_switches.same_scale", "Same scale: on")
                            : tr("weights_switches.same_scale_2", "Same scale: off"),
            view.same_scale, SetSameScale{!view.same_scale},
            view.same_scale ? tr("weights_switches.one_colour_scale_all_2",
                                 "One color scale for all heads; click to give each head its own")
                            : tr("weights_switches.each_head_own_colour",
                                 "Each head has its own color scale; click for one that all heads share"));
    constexpr Message names[] = {translatable("common.head_5", "by head"),
                                 translatable("common.neutral", "neutral"), untranslated("viridis"),
                                 untranslated("cividis"), untranslated("magma")};
    const auto map = static_cast<std::size_t>(view.colour_map);
    if (all)
        add(tr("weights_switches.colours", "Colors: {}", tr(names[map])), false,
            SetColourMap{static_cast<ColourMap>((map + 1) % std::size(names))},
            tr("weights_switches.colours_maps_click_next",
               "The colors of the maps; click for the next ones: by head, neutral, viridis, cividis, magma"));
    if (context.shown.document->is_checkpoint())
        return; // the mask is defined by the model
    const MaskBrush& brush = view.brush;
    add(brush.on ? tr("weights_switches.paint_mask", "Paint mask: on")
                 : tr("weights_switches.paint_mask_2", "Paint mask: off"),
        brush.on, PaintMode{!brush.on, brush.all_heads},
        brush.on ? tr("weights_switches.click_forbids_allows",
                      "A click forbids or allows a cell; switch this off to select cells again")
                 : tr("weights_switches.switch_forbid_allow",
                      "Switch this on to forbid or allow cells by a click or a drag"));
    if (brush.on && context.dims().H > 1)
        add(brush.all_heads ? tr("weights_switches.all_heads", "All heads: on")
                            : tr("weights_switches.all_heads_2", "All heads: off"),
            brush.all_heads, PaintMode{true, !brush.all_heads},
            brush.all_heads
                ? tr("weights_switches.every_head_painted_once", "Every head is painted at once")
                : tr("weights_switches.head_clicked_painted", "Only the head that is clicked is painted"));
    if (project::painted_mask_fits(context.shown.document->recipe, context.dims()))
        add(tr("weights_switches.reset_mask", "Reset mask"), false, ResetMask{},
            tr("weights_switches.mask_chosen_toolbar", "The mask as it was chosen in the toolbar"));
}

void draw_switches(Picture& picture, const DrawContext& context) {
    if (context.shown.document->has_head_grid() && context.view.group == StageGroup::weights) {
        draw_head_switches(picture, context);
        return;
    }
    const ViewState& view = context.view;
    const bool weights = view.group == StageGroup::weights;
    float right = context.width - canvas_pad;
    float heads_y = 28;
    const std::string title = map_title(context, tensor_info(group_info(view.group).main));
    const float title_end = canvas_pad + context.measure(title, figure::Font::ui_semibold, 22) + 24;
    if (weights) {
        const std::vector<Segment> ways = view_segments(view);
        right -= segmented_width(context, ways);
        draw_segmented(picture, context, right, 28, ways);
        right -= 12;
    }
    const Document& document = *context.shown.document;
    if (document.is_checkpoint() && view.attention.stack == checkpoint::Stack::own &&
        (view.group == StageGroup::scores || view.group == StageGroup::scaled) &&
        has_screen(document, Screen::why)) { // some scores are not split into components
        const std::vector<Segment> ways{
            {.label = tr("common.score_map", "Score map"), .action = GoTo{view.group}, .on = true},
            {.label = tr("common.taken_apart", "Components"),
             .action = ShowScreen{Screen::why},
             .on = false,
             .tip = tr("weights_switches.wrote_selected_score",
                       "The residual stream components of the selected score")}};
        right -= segmented_width(context, ways);
        draw_segmented(picture, context, right, 28, ways);
        right -= 12;
    }
    const std::int64_t H = context.dims().H;
    if (H > 1) {
        const std::string pair = tr("weights_switches.head", "Head {} − {}", view.head, view.compared_head);
        std::vector<Segment> heads{
            heads_segment(view, tr("common.each_head", "Each head"), HeadsView::each,
                          tr("weights_switches.one_map_per_head", "One map per head")),
            heads_segment(view, pair, HeadsView::difference,
                          tr("weights_switches.difference_two_heads",
                             "The difference of two heads; press a number to pick the first"))};
        if (weights || view.heads_view == HeadsView::mean)
            heads.push_back(
                heads_segment(view, tr("common.mean", "Mean"), HeadsView::mean,
                              tr("weights_switches.average_over_all_heads", "The average over all heads")));
        // If the two switches do not fit next to the title, the heads' switch goes below.
        if (right - segmented_width(context, heads) < title_end) {
            right = context.width - canvas_pad;
            heads_y = 62;
        }
        right -= segmented_width(context, heads);
        draw_segmented(picture, context, right, heads_y, heads);
    }
    const bool map_page = !weights || view.weights_view == WeightsView::heatmap;
    if (map_page && !context.difference() && view.heads_view == HeadsView::each)
        heads_y < 62 ? draw_colour_buttons(picture, context, context.width - canvas_pad, true)
                     : draw_colour_buttons(picture, context, right - 12, false);
    if (view.heads_view == HeadsView::difference && H > 2 && heads_y < 62) {
        float x = context.width - canvas_pad;
        for (std::int64_t h = H - 1; h >= 0 && h > H - 17; --h) {
            if (h == view.head)
                continue;
            const std::string label = "− " + std::to_string(h);
            x -= context.measure(label, figure::Font::ui_medium, 12.5F) + 16;
            draw_text_button(picture, context, x, 62, label, h == view.compared_head, CompareWith{h},
                             tr("weights_switches.subtract_head", "Subtract head {}", h));
            x -= 4;
        }
    }
}

/// The line up to its first comma outside brackets: "c2p[h, i]" is one name.
std::string formula_in(const std::string& line) {
    int depth = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        depth += line[at] == '[' || line[at] == '(' ? 1 : line[at] == ']' || line[at] == ')' ? -1 : 0;
        if (depth == 0 && line.compare(at, 2, ", ") == 0)
            return line.substr(0, at);
    }
    return line;
}

} // namespace

float draw_weights_head(Picture& picture, const DrawContext& context, const std::string& title,
                        const std::string& line, bool grows) {
    draw_switches(picture, context);
    if (!context.heading)
        return weights_top;
    const auto free_from = [&](float top, float bottom, float edge) {
        for (const Hotspot& spot : picture.hotspots)
            if (spot.area.y >= top && spot.area.y < bottom)
                edge = std::min(edge, spot.area.x);
        return edge;
    };
    constexpr float second_row = 60, row = 34, everywhere = 1000, title_gap = 12;
    float free =
        free_from(0, second_row, context.width - canvas_pad); // left edge of the items next to the title
    // A title that does not fit next to the switches has its own row.
    const bool alone =
        grows && free < context.width - canvas_pad &&
        canvas_pad + context.measure(title, figure::Font::ui_semibold, smallest_title) > free - title_gap;
    const float top = weights_top + (alone ? row : 0);
    if (alone) {
        picture.move_by(0, row);
        free = context.width - canvas_pad;
    }
    const float below = free_from(second_row, everywhere, context.width);
    constexpr float size = 13;
    constexpr figure::Font font = figure::Font::mono;
    const float room = below - 16 - canvas_pad;
    const auto width_of = [&](const std::string& text) { return context.measure(text, font, size); };
    // A line that is too wide is shortened to its formula.
    const std::string formula = formula_in(line);
    const float after = canvas_pad + context.measure(title, figure::Font::ui_semibold, 22) + 18;
    const bool whole = width_of(line) <= room, beside = !whole && after + width_of(line) + 16 <= free,
               lower = !whole && !beside && width_of(formula) > room && grows;
    const std::string fitting = whole             ? line
                                : beside || lower ? ""
                                                  : fitted_words(context, formula, font, size, room);
    draw_view_heading(picture, context, title, fitting, std::max(context.width - canvas_pad - free, 0.0F));
    if (beside)
        draw_text(picture, context, after, 52, line, font, size, context.theme.muted);
    else if (!whole && !lower)
        picture.tips.push_back({{canvas_pad, 64, room, 20}, line});
    if (!lower)
        return top;
    // If the line fits neither next to the title nor below it, it is placed below the switches, on its own
    // lines.
    constexpr float first = 13, step = 19, apart = 5;
    return draw_paragraph(picture, context, canvas_pad, top + first, context.width - 2 * canvas_pad, line,
                          font, size, step, context.theme.muted) -
           first + apart;
}

} // namespace headscope::app
