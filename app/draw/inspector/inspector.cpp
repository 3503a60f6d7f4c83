#include "app/draw/panels/panels.h"

#include "app/draw/inspector/inspector_sections.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/panels/compare_panels.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

/// A whole trace has every stage; one that was run for some of them can explain only those.
bool all_read(const Shown& shown, const CellAddress& cell) {
    return std::ranges::all_of(reads_of(shown, cell), [&](const ReadSpan& span) {
        return !is_stage(span.source) || shown.tensor(span.source) != nullptr;
    });
}

/// Address, value and what the value is.
void write_head(Sheet& sheet, const CellAddress& cell, int decimals) {
    const DrawContext& context = sheet.context;
    constexpr float value_size = 34.0F, caption_size = 12.5F;
    sheet.y = 18;
    sheet.put(sheet.left, address_text(context.shown, cell), sheet.width(), figure::Font::mono, 14,
              context.theme.ink);
    const auto difference = difference_on_canvas(context, cell);
    const double value = difference ? difference->value : static_cast<double>(context.shown.value(cell));
    const auto written = difference ? signed_number : number;
    decimals = difference && std::abs(value) < 0.005 && value != 0 ? 4 : std::max(decimals, 2);
    std::string text = written(value, decimals);
    while (decimals > 0 && context.measure(text, figure::Font::ui_semibold, value_size) > sheet.width())
        text = written(value, --decimals);
    constexpr float value_baseline = 84.0F;
    const float taken = draw_text(sheet.picture, context, sheet.left, value_baseline, text,
                                  figure::Font::ui_semibold, value_size, context.theme.ink);
    const std::string caption = difference ? difference->words : caption_of(context.shown, cell);
    const float room = sheet.width() - taken - 12;
    const bool beside = context.measure(caption, figure::Font::ui, caption_size) <= room;
    float last_baseline = value_baseline;
    if (beside)
        draw_text(sheet.picture, context, sheet.left + taken + 12, value_baseline - 2, caption,
                  figure::Font::ui, caption_size, context.theme.muted);
    else
        last_baseline = draw_paragraph(sheet.picture, context, sheet.left, value_baseline + 26, sheet.width(),
                                       caption, figure::Font::ui, caption_size, 18, context.theme.muted) -
                        18;
    sheet.y = last_baseline + 10;
}

} // namespace

Picture draw_inspector(const DrawContext& context) {
    if (context.shown.document->shows_weights())
        return draw_attention_inspector(context);
    Sheet head(context);
    const auto cell = current_cell_on_canvas(context);
    if (!cell) {
        head.y = 18;
        head.paragraph(
            tr("inspector.point_number_see_how", "Hover over a number to see how it was computed."),
            context.theme.muted);
        return head.finish();
    }
    Sheet body(context);
    body.link_terms();
    int decimals = 2;
    if (all_read(context.shown, *cell)) {
        decimals = explain(body, *cell);
        if (compares_heads(context, cell->tensor))
            add_comparison(body, *cell);
    } else {
        body.section(tr("inspector.not_computed", "Not computed"));
        body.paragraph(tr("inspector.stages_number_follows_not",
                          "This trace does not contain the stages that this number is computed from."),
                       context.theme.text);
    }
    add_change_sections(body, *cell);
    write_head(head, *cell, decimals);
    const float below = head.y;
    Picture sections = body.finish();
    head.y += sections.scene.height - Sheet::pad;
    head.picture.append(std::move(sections), 0, below);
    return head.finish();
}

} // namespace headscope::app
