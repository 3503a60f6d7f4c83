#include "app/commands/actions.h"
#include "app/draw/block/block_parts.h"
#include "app/draw/effects/screens.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/flash.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/pages.h"
#include "core/base/in_order.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

Picture draw_weights_page(const DrawContext& context) {
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
    return {};
}

/// The drawing function of each view.
struct PageDrawing {
    Page page;
    Picture (*draw)(const DrawContext& context);
};
constexpr std::array<PageDrawing, page_count> pages{{
    {Page::tokens, draw_x_page},
    {Page::projection, draw_projection_page},
    {Page::split, draw_split_page},
    {Page::maps, draw_heatmap_page},
    {Page::weights, draw_weights_page},
    {Page::head_out, draw_head_out_page},
    {Page::concat, draw_concat_page},
    {Page::contributions, draw_contributions_page},
    {Page::output, draw_output_page},
    {Page::gate, draw_gate_page},
    {Page::residual, draw_residual_page},
    {Page::norm, draw_norm_page},
    {Page::mlp, draw_mlp_page},
    {Page::mlp_out, draw_mlp_out_page},
    {Page::routing, draw_routing_page},
    {Page::delta, draw_delta_page},
    {Page::copies, draw_copies_page},
    {Page::vocabulary, draw_vocabulary_page},
}};
static_assert(is_in_enum_order(pages, &PageDrawing::page),
              "every page has its drawing, in the order of Page");

/// The view while its numbers are being computed.
Picture draw_awaited(const DrawContext& context) {
    Picture picture = empty_view(context);
    draw_view_heading(picture, context, tr(group_info(context.view.group).title),
                      tr("common.computed", "Computing …"));
    return picture;
}

/// Returns true if the block on screen is the one that the view shows. Another view may be on screen before
/// its block is available.
bool has_block_of_page(const DrawContext& context) {
    const Shown& shown = context.shown;
    const checkpoint::AttentionPlace of_page = current_block_place(context.view);
    return shown.tensor(group_info(context.view.group).main) != nullptr &&
           (of_page.layer < 0 ? shown.block->place.layer < 0 : shown.block->place == of_page);
}

Picture draw_page(const DrawContext& context) {
    if (context.shown.is_pending())
        return draw_awaited(context);
    if (const Screen screen = screen_of(context.shown, context.view); screen != Screen::stages)
        return draw_screen(screen, context);
    const Document& document = *context.shown.document;
    const Page page = group_info(context.view.group).page;
    if (is_around(context.view.group) && !has_block_of_page(context))
        return draw_awaited(context);
    if (is_around(context.view.group) && context.difference())
        return context.compare->of(group_info(context.view.group).main) == nullptr ? draw_awaited(context)
               : page == Page::vocabulary ? draw_vocabulary_change(context)
                                          : draw_change_around(context);
    if ((document.shows_weights() && !context.all_heads) ||
        (document.is_checkpoint() && page == Page::weights && !context.all_heads))
        return draw_head_page(context);
    return pages[static_cast<std::size_t>(page)].draw(context);
}

/// The minimum width at which a view of attention inputs shows its title, switches and numbers; a narrower
/// canvas scrolls. A model's head is next to the grid of heads, and its view fits the remaining width.
float least_width(const DrawContext& context) {
    constexpr float readable = 480;
    const bool page = !context.shown.is_pending() && !context.shown.document->has_head_grid() &&
                      screen_of(context.shown, context.view) == Screen::stages;
    return page && context.controls ? readable : 0;
}

/// Draws "1.00 → 1.70" above the dragged number, without covering the column below it.
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
        add_text(picture.scene, {tag.x + 10, figure::baseline_for(tag.y + 14, 13)}, text, figure::Font::mono,
                 13, context.theme.ink);
        return;
    }
}

} // namespace

Picture draw_canvas(const DrawContext& given) {
    DrawContext context = given;
    context.width = std::max(context.width, least_width(context));
    Picture picture = draw_page(context);
    if (context.view.flow.opened_stage && context.controls &&
        screen_of(context.shown, context.view) == Screen::stages)
        draw_text_button(picture, context, canvas_pad, 4, tr("canvas.back_to_flow", "Back to the Flow"),
                         false, ShowScreen{Screen::flow},
                         with_key(tr("canvas.back_to_flow", "Back to the Flow"), "let go"));
    draw_flash(picture, context);
    if (context.shown.trace == nullptr)
        return picture;
    if (screen_of(context.shown, context.view) != Screen::flow) // it lights a path instead
        draw_outlines(picture, context);
    draw_selection(picture, context);
    draw_drag_tag(picture, context);
    return picture;
}

} // namespace headscope::app
