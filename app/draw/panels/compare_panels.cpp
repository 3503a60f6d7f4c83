#include "app/draw/panels/compare_panels.h"

#include "app/commands/actions.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

void add_baseline_buttons(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Comparison* compare = context.compare;
    const bool marked = compare != nullptr && compare->marked();
    sheet.section(tr("common.compare", "Compare"), "B − A");
    sheet.put(sheet.left,
              marked ? "A: " + compare->name()
                     : tr("compare_panels.b_edit_stays", "Edits change B; A stays as it is."),
              sheet.width(), figure::Font::ui, 13, context.theme.text);
    sheet.y += Sheet::row_height + 4;
    const float width = (sheet.width() - 12) / 2;
    const figure::Rect first{sheet.left, sheet.y, width, 34};
    const figure::Rect second{sheet.left + width + 12, sheet.y, width, 34};
    draw_button(sheet.picture, context, first, tr("compare_panels.mark", "Mark as A"), MarkBaseline{}, false,
                with_key(tr("common.now_screen", "Marks the numbers on screen as A"), "mark baseline"));
    if (marked)
        draw_button(sheet.picture, context, second, tr("compare_panels.forget", "Forget A"), DropBaseline{},
                    false, tr("compare_panels.stop_comparing", "Stop comparing"));
    else
        draw_button(sheet.picture, context, second, tr("compare_panels.built", "A: as built"),
                    MarkBaseline{true}, false,
                    tr("compare_panels.problem_without_edits",
                       "A is this problem without edits, head gains and temperature"));
    sheet.y += 34 + 10;
    const bool flashes = context.view.flashes();
    draw_text_button(
        sheet.picture, context, sheet.left, sheet.y,
        tr("compare_panels.flash_changes", "Flash changed cells"), flashes, SetFlash{!flashes},
        tr("compare_panels.outline_cells_edit", "Briefly outlines the cells that an edit changed"));
    sheet.y += 24 + 8;
}

void mark_baseline_line(Sheet& sheet, const figure::Rect& area) {
    constexpr float dash = 5, space = 4;
    for (float x = area.x; x < area.right(); x += dash + space)
        sheet.picture.scene.add(figure::LineItem{
            {x, area.y}, {std::min(x + dash, area.right()), area.y}, sheet.context.theme.muted, 1});
}

std::optional<HeadChange> change_of_head(const DrawContext& context, std::int64_t head) {
    if (context.compare == nullptr)
        return std::nullopt;
    const analysis::TensorDifference* change = context.compare->of(tensor_compared_by_head(context.view));
    if (change == nullptr || change->head_norms.empty())
        return std::nullopt;
    const auto groups = static_cast<std::int64_t>(change->head_norms.size());
    const std::int64_t g = head / (context.dims().H / groups);
    return HeadChange{change->head_norms[static_cast<std::size_t>(g)], std::ranges::max(change->head_norms)};
}

} // namespace headscope::app
