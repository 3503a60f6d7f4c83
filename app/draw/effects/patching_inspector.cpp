#include "app/draw/effects/mean_parts.h"
#include "app/draw/effects/patching_page.h"
#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

} // namespace

Picture draw_patching_inspector(const DrawContext& context) {
    Sheet sheet(context);
    sheet.link_terms();
    const Theme& theme = context.theme;
    sheet.y = 18;
    const PatchingView* const view = context.shown.patching.get();
    if (view == nullptr || view->pair == nullptr || view->map == nullptr) {
        sheet.paragraph(tr("patching_inspector.click_cell_map_see",
                           "Click a cell of the map to see the effect of its patch."),
                        theme.muted);
        return sheet.finish();
    }
    const PatchingPair& pair = *view->pair;
    const PatchingMap& map = *view->map;
    const bool idle = map.mean == nullptr && pair.too_similar();
    const auto name_of = [&](std::size_t row, std::size_t column) {
        return patching_row_name(map, row) + (by_head(map) ? " H" + std::to_string(column)
                                              : map.mean != nullptr
                                                  ? ", " + tr("patching_inspector.token", "token {}", column)
                                                  : ", " + pair.clean_tokens[column]);
    };
    const auto& chosen = context.view.attention.patch;
    const bool inside = chosen[0] >= 0 && std::cmp_less(chosen[0], map.cells.size()) && chosen[1] >= 0 &&
                        std::cmp_less(chosen[1], map.cells.front().size());
    if (inside) {
        const auto row = static_cast<std::size_t>(chosen[0]), column = static_cast<std::size_t>(chosen[1]);
        const auto& share = map.cells[row][column];
        sheet.headline(name_of(row, column), share ? number(static_cast<double>(*share), 2) : "…",
                       tr("patching_inspector.answer_comes_back", "of the answer is recovered"));
        if (share && map.mean != nullptr) {
            sheet.paragraph(patch_spread(map, row, column), theme.text);
        } else if (share) {
            const double clean = pair.clean_difference, corrupted = pair.corrupted_difference,
                         patched = corrupted + static_cast<double>(*share) * (clean - corrupted);
            sheet.section(tr("patching_inspector.run", "Run of this cell"),
                          pair.answer + " − " + pair.against);
            sheet.row(tr("common.clean", "clean"), signed_number(clean, 2));
            sheet.row(tr("common.corrupted", "corrupted"), signed_number(corrupted, 2));
            sheet.row(tr("patching_inspector.corrupted_patch", "corrupted, with this patch"),
                      signed_number(patched, 2), true);
            sheet.arithmetic(number(patched - corrupted, 2) + " ÷ " + number(clean - corrupted, 2),
                             number(static_cast<double>(*share), 2));
        }
        if (map.mean == nullptr && can_open(map, chosen[0], chosen[1]) && context.controls) {
            sheet.y += 6;
            draw_button(sheet.picture, context, {sheet.left, sheet.y, sheet.width(), 32},
                        tr("patching_inspector.open_run", "Open this run"), OpenPatch{chosen[0], chosen[1]},
                        true,
                        tr("patching_inspector.shows_stages_board",
                           "Shows the stages, the grid of heads and the prediction of the corrupted prompt "
                           "with this patch"));
            sheet.y += 40;
        }
        if (by_head(map) && context.controls) {
            sheet.y += 6;
            draw_button(sheet.picture, context, {sheet.left, sheet.y, sheet.width(), 32},
                        tr("common.open", "Open {}", name_of(row, column)), OpenHead{chosen[0], chosen[1]},
                        false,
                        tr("patching_inspector.puts_head_focus_tab",
                           "Selects this head; the paths of the tab Paths start at it"));
            sheet.y += 44;
        }
    } else {
        sheet.paragraph(tr("patching_inspector.click_cell_map_see",
                           "Click a cell of the map to see the effect of its patch."),
                        theme.muted);
    }
    struct Large {
        std::size_t row, column;
        double share;
    };
    std::vector<Large> large;
    for (std::size_t row = 0; row < map.cells.size(); ++row)
        for (std::size_t column = 0; column < map.cells[row].size(); ++column)
            if (const auto& share = map.cells[row][column]; share && !map.same[row][column])
                large.push_back({row, column, static_cast<double>(*share)});
    std::ranges::stable_sort(large, std::ranges::greater{},
                             [](const Large& one) { return std::abs(one.share); });
    constexpr std::size_t listed = 10;
    large.resize(std::min(large.size(), listed));
    sheet.section(tr("patching_inspector.largest_shares", "Largest fractions"),
                  tr("common.recovered", "recovered"));
    for (const Large& one : large) {
        sheet.row_spot("large " + std::to_string(one.row) + "." + std::to_string(one.column),
                       PickPatch{static_cast<std::int64_t>(one.row), static_cast<std::int64_t>(one.column)},
                       tr("patching_inspector.look_patch", "Select this patch"));
        constexpr float number_room = 58, bar = 76;
        const float end = sheet.right - number_room;
        sheet.put(sheet.left, name_of(one.row, one.column), end - bar - 8 - sheet.left, Font::ui,
                  Sheet::text_size, theme.text);
        if (!idle)
            draw_signed_bar(sheet.picture, theme, {end - bar, sheet.y, bar, Sheet::row_height}, one.share, 1);
        sheet.put(sheet.right, number(one.share, 2), number_room, Font::mono, Sheet::text_size,
                  idle ? theme.muted : theme.text, Align::right);
        sheet.y += Sheet::row_height;
    }
    sheet.section(tr("common.how_measured", "How it is measured"));
    sheet.paragraph(
        tr("patching_inspector.recovered_patched",
           "recovered = (patched − corrupted) ÷ (clean − corrupted). Each of the three is the logit of {} "
           "minus that of {} after the last token. 1: the whole answer is recovered, 0: nothing.",
           pair.answer, pair.against),
        theme.muted);
    return sheet.finish();
}

} // namespace headscope::app
