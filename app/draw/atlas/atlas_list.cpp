#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using analysis::HeadScore;
using figure::Align;
using figure::Font;

constexpr float list_row = 24;
constexpr std::size_t most_rows = 200; ///< a longer list can be narrowed by a search

/// The scores of the columns, without duplicates.
std::vector<HeadScore> columns_of(const AtlasScene& scene, float room) {
    std::vector<HeadScore> scores;
    for (const HeadScore score : {scene.resolved.colour, scene.resolved.x, scene.resolved.y})
        if (std::ranges::find(scores, score) == scores.end())
            scores.push_back(score);
    const auto most = static_cast<std::size_t>(std::max(1.0F, room / 96));
    scores.resize(std::min(scores.size(), most));
    return scores;
}

std::vector<GridHead> rows_of(const AtlasScene& scene, HeadScore by) {
    std::vector<GridHead> rows;
    for (std::int64_t l = 0; l < scene.atlas.L; ++l)
        for (std::int64_t h = 0; h < scene.atlas.H; ++h)
            if (!scene.resolved.is_filtered || scene.is_chosen(l, h))
                rows.push_back({l, h});
    const bool ascending = scene.view().ascending;
    // Heads without the score are last.
    std::ranges::stable_sort(rows, [&](const GridHead& a, const GridHead& b) {
        const auto of_a = scene.score(a.layer, a.head, by), of_b = scene.score(b.layer, b.head, by);
        if (!of_a || !of_b)
            return of_a.has_value() && !of_b.has_value();
        return ascending ? *of_a < *of_b : *of_a > *of_b;
    });
    return rows;
}

void draw_row(Picture& picture, const AtlasScene& scene, const GridHead& row,
              const std::vector<HeadScore>& columns, const figure::Rect& area) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const bool open = scene.is_open(row.layer, row.head), hovered = scene.hovered(row.layer, row.head);
    if (open || hovered)
        picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight});
    if (open)
        picture.scene.add(figure::RectItem{.area = {area.x, area.y, 3, area.h}, .fill = theme.ink});
    const float baseline = figure::baseline_for(area.y + area.h / 2, 12.5F);
    draw_text(picture, context, area.x + 10, baseline, scene.name(row.layer, row.head),
              open ? Font::mono_semibold : Font::mono, 12.5F, theme.ink);
    const float pin = area.x + 92;
    const bool pinned = std::ranges::find(scene.view().pinned, row) != scene.view().pinned.end();
    draw_text(picture, context, pin + 9, baseline, pinned ? "★" : "☆", Font::ui, 13,
              pinned ? theme.ink : theme.muted, Align::center);
    const std::string label = scene.label(row.layer, row.head);
    const float numbers = area.right() - 96 * static_cast<float>(columns.size());
    draw_text(picture, context, pin + 26, baseline, label.empty() ? "–" : label, Font::ui, 12.5F,
              label.empty() ? theme.muted : theme.text);
    for (std::size_t c = 0; c < columns.size(); ++c)
        draw_text(picture, context, numbers + 96 * static_cast<float>(c + 1) - 6, baseline,
                  scene.score_label(row.layer, row.head, columns[c]), Font::mono, 12.5F, theme.text,
                  Align::right);
    if (!context.controls)
        return;
    const std::string name = scene.name(row.layer, row.head);
    picture.add_hotspot(
        {pin, area.y, 20, area.h}, "pin " + name, PinHead{row},
        pinned ? tr("atlas_list.takes_pin_out", "Unpins the head")
               : tr("atlas_list.pins_head_pinned_heads", "Pins the head: pinned heads are compared"));
    picture.add_hotspot(area, "row " + name, OpenHead{row.layer, row.head});
}

} // namespace

float draw_atlas_list(Picture& picture, const AtlasScene& scene, const figure::Rect& room) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const std::vector<HeadScore> columns = columns_of(scene, room.w - 230);
    const HeadScore by = scene.view().sort.value_or(scene.resolved.colour);
    const float numbers = room.right() - 96 * static_cast<float>(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const figure::Rect area{numbers + 96 * static_cast<float>(c), room.y, 96, list_row};
        const bool on = columns[c] == by;
        const std::string mark = on ? scene.view().ascending ? " ↑" : " ↓" : "";
        std::string words = name_of(columns[c]);
        words = words.substr(0, words.find(',')) + (scene.difference() ? ", B − A" : "") + mark;
        draw_text(picture, context, area.right() - 6, area.y + 15, words, on ? Font::ui_semibold : Font::ui,
                  12, on ? theme.ink : theme.muted, Align::right);
        if (context.controls)
            picture.add_hotspot(area, "sort by " + std::string(analysis::info_of(columns[c]).name.english),
                                SortHeads{columns[c]},
                                tr("atlas_list.click_sorts_once_more",
                                   "{}. A click sorts by it, a second click reverses the order.",
                                   name_of(columns[c])));
    }
    draw_text(picture, context, room.x + 10, room.y + 15, tr("common.head_2", "head"), Font::ui, 12,
              theme.muted);
    // Translators: the heading of the column of labels
    draw_text(picture, context, room.x + 118, room.y + 15, tr("atlas_list.called", "label"), Font::ui, 12,
              theme.muted);
    float y = room.y + list_row;
    draw_hairline(picture, context, room.x, y, room.w);
    const std::vector<GridHead> rows = rows_of(scene, by);
    for (std::size_t n = 0; n < std::min(rows.size(), most_rows); ++n, y += list_row)
        draw_row(picture, scene, rows[n], columns, {room.x, y, room.w, list_row});
    const std::string foot =
        rows.empty() ? tr("atlas_list.no_head_like", "No head matches. Change or clear the search.")
        : rows.size() > most_rows
            ? tr("atlas_list.more_choose_fewer_heads", "and {} more: select fewer heads",
                 grouped(static_cast<std::int64_t>(rows.size() - most_rows)))
            : "";
    if (!foot.empty())
        draw_text(picture, context, room.x + 10, y += 18, foot, Font::ui, 12.5F, theme.muted);
    return y + 12;
}

namespace {

/// The choices of scores. A score that cannot be measured here is listed with the reason.
std::vector<Choice> scores_of(const AtlasScene& scene, AtlasMenu what, HeadScore now) {
    std::vector<Choice> choices;
    for (const analysis::HeadScoreInfo& info : analysis::head_scores()) {
        const bool offered = scene.atlas.offers(info.score);
        const ScoreProgress* const work = scene.atlas.work(info.score);
        if (offered || work != nullptr)
            choices.push_back({.label = name_of(info.score),
                               .action = ChooseScore{what, info.score},
                               .on = info.score == now,
                               .tip = offered ? tr(info.formula) : work->unavailable_reason,
                               .enabled = offered});
    }
    return choices;
}

} // namespace

float draw_score_button(Picture& picture, const AtlasScene& scene, float x, float y, AtlasMenu what,
                        bool right) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const std::string id = what == AtlasMenu::colour ? "colour by"
                           : what == AtlasMenu::x    ? "x"
                                                     : "y",
                      caption = what == AtlasMenu::colour ? tr("atlas_list.colour", "color by") : id;
    const HeadScore score = what == AtlasMenu::colour ? scene.resolved.colour
                            : what == AtlasMenu::x    ? scene.resolved.x
                                                      : scene.resolved.y;
    const float before = context.measure(caption, Font::ui, 12.5F) + 7,
                width = before + context.measure(name_of(score), Font::ui_medium, 12.5F) + 44;
    const figure::Rect area{right ? x - width : x, y, width, 30};
    if (context.controls)
        picture.scene.add(figure::RectItem{.area = area,
                                           .fill = theme.raise,
                                           .stroke = scene.view().menu == what ? theme.ink : theme.line2,
                                           .radius = 6});
    const float baseline = figure::baseline_for(area.y + area.h / 2, 12.5F);
    draw_text(picture, context, area.x + 12, baseline, caption, Font::ui, 12.5F, theme.muted);
    draw_text(picture, context, area.x + 12 + before, baseline, name_of(score), Font::ui_medium, 12.5F,
              theme.ink);
    if (context.controls)
        draw_chevron(picture.scene, {area.right() - 16, area.y + area.h / 2 + 2}, Pointing::down,
                     theme.muted);
    picture.add_hotspot(area, "choose " + id, OpenAtlasMenu{what}, tr(analysis::info_of(score).formula));
    if (context.controls && scene.view().menu == what)
        picture.lists.push_back({.area = area,
                                 .label = "list of scores",
                                 .choices = scores_of(scene, what, score),
                                 .close = OpenAtlasMenu{AtlasMenu::none}});
    return width;
}

} // namespace headscope::app
