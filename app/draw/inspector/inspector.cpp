#include "app/draw/panels/panels.h"

#include "app/draw/inspector/inspector_sections.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/panels/compare_panels.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// A whole trace has every stage; one that was run for some of them can explain only those.
bool all_read(const Shown& shown, const CellAddress& cell) {
    return std::ranges::all_of(reads_of(shown, cell), [&](const ReadSpan& span) {
        return !is_stage(span.source) || shown.tensor(span.source) != nullptr;
    });
}

bool compares_heads(TensorId id) {
    return id == TensorId::scores || id == TensorId::scaled || id == TensorId::masked ||
           id == TensorId::weights;
}

/// The steps from the dot product to the stage of the cell.
int add_score_steps(Sheet& sheet, const CellAddress& cell) {
    int decimals = add_dot_product(sheet, cell.at);
    if (cell.tensor >= TensorId::scaled)
        decimals = add_scale(sheet, cell.at, decimals);
    if (cell.tensor >= TensorId::masked)
        decimals = add_mask(sheet, cell.at, decimals);
    if (cell.tensor == TensorId::weights)
        decimals = add_softmax(sheet, cell.at, decimals);
    return decimals;
}

int add_sections(Sheet& sheet, const CellAddress& cell) {
    switch (tensor_info(cell.tensor).operation) {
    case Operation::given:
        return add_given(sheet, cell);
    case Operation::copy:
        return add_copy(sheet, cell);
    case Operation::dot_product:
    case Operation::scale:
    case Operation::mask:
    case Operation::softmax:
        return add_score_steps(sheet, cell);
    case Operation::mean:
        return add_mean(sheet, cell);
    case Operation::value_sum:
        return add_value_sum(sheet, cell);
    case Operation::projection:
        break;
    }
    if (cell.tensor == TensorId::contributions)
        return add_contribution(sheet, cell);
    if (cell.tensor != TensorId::output)
        return add_projection(sheet, cell, "Term by term");
    const int decimals = add_shares(sheet, cell);
    return std::max(decimals, add_output_terms(sheet, cell));
}

/// Address, value and what the value is.
void write_head(Sheet& sheet, const CellAddress& cell, int decimals) {
    const DrawContext& context = sheet.context;
    constexpr float value_size = 34.0F, caption_size = 12.5F;
    sheet.y = 18;
    sheet.put(sheet.left, address_text(context.shown, cell), sheet.width(), figure::Font::mono, 14,
              context.theme.ink);
    const auto value = static_cast<double>(context.shown.value(cell));
    decimals = std::max(decimals, 2);
    std::string text = number(value, decimals);
    while (decimals > 0 && context.measure(text, figure::Font::ui_semibold, value_size) > sheet.width())
        text = number(value, --decimals);
    constexpr float value_baseline = 84.0F;
    const float taken = draw_text(sheet.picture, context, sheet.left, value_baseline, text,
                                  figure::Font::ui_semibold, value_size, context.theme.ink);
    const std::string caption = caption_of(context.shown, cell);
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
    const auto cell = spoken_on_canvas(context);
    if (!cell) {
        head.y = 18;
        head.paragraph("Point at a number to see how it came about.", context.theme.muted);
        return head.finish();
    }
    Sheet body(context);
    int decimals = 2;
    if (all_read(context.shown, *cell)) {
        decimals = add_sections(body, *cell);
        if (context.view.heads_view == HeadsView::difference && compares_heads(cell->tensor))
            add_comparison(body, *cell);
    } else {
        body.section("Not computed");
        body.paragraph("The stages that this number follows from are not part of this trace.",
                       context.theme.text);
    }
    add_change_sections(body, *cell);
    write_head(head, *cell, decimals);
    const float below = head.y;
    const Picture sections = body.finish();
    head.y += sections.scene.height - Sheet::pad;
    head.picture.append(sections, 0, below);
    return head.finish();
}

} // namespace headscope::app
