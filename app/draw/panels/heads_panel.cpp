#include "app/draw/panels/panels.h"

#include "app/commands/actions.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/panels/compare_panels.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

constexpr float indent = 38.0F;
constexpr float swatch_size = 26.0F;

std::string does(const analysis::HeadMetrics& m) {
    if (!m.labelled)
        return "";
    // Translators: what a head reads, and how much of its weight goes there: does: the token before 0.84
    return tr("heads_panel.does", "does: {} {}", label_words(m),
              number(static_cast<double>(m.label_score()), 2));
}

void draw_swatch(Sheet& sheet, std::int64_t h, float top) {
    const DrawContext& context = sheet.context;
    const figure::Color colour = context.theme.head(h, context.dims().H).colour;
    const bool off = context.shown.problem().gain(h) == 0.0F;
    const figure::Rect area{sheet.left, top, swatch_size, swatch_size};
    sheet.picture.scene.add(figure::RectItem{
        .area = area, .fill = off ? figure::Color{0} : colour, .stroke = colour, .radius = 4});
    draw_text(sheet.picture, context, area.x + area.w / 2, figure::baseline_for(top + area.h / 2, 13),
              std::to_string(h), figure::Font::ui_semibold, 13, off ? context.theme.ink : text_on(colour),
              figure::Align::center);
}

/// The left edge of the bars, after the widest of their names.
float bar_indent(const DrawContext& context) {
    float widest = context.measure(tr("heads_panel.change", "change"), figure::Font::ui, 12);
    for (const analysis::HeadScoreInfo& score : analysis::head_scores())
        widest = std::max(widest, context.measure(tr(score.bar), figure::Font::ui, 12));
    return std::max(62.0F, std::ceil(widest) + 8);
}

/// "entropy [===   ] 0.75": a bar relative to its largest possible value.
void draw_measure(Sheet& sheet, const std::string& name, const std::string& value, float part,
                  figure::Color colour) {
    const Theme& theme = sheet.context.theme;
    const float left = sheet.left + indent, names = bar_indent(sheet.context), bar = left + names;
    const float value_room = 84;
    const float length = std::max(20.0F, sheet.right - value_room - bar - 10);
    sheet.put(left, name, names - 4, figure::Font::ui, 12, theme.muted);
    const float center = sheet.y + Sheet::row_height / 2;
    sheet.picture.scene.add(
        figure::RectItem{.area = {bar, center - 3, length, 6}, .fill = theme.line, .radius = 2});
    sheet.picture.scene.add(figure::RectItem{
        .area = {bar, center - 3, length * std::clamp(part, 0.0F, 1.0F), 6}, .fill = colour, .radius = 2});
    sheet.put(sheet.right, value, value_room, figure::Font::mono, 12, theme.text, figure::Align::right);
    sheet.y += 22;
}

void draw_one(Sheet& sheet, std::int64_t h) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const auto index = static_cast<std::size_t>(h);
    const auto& roles = context.shown.document->head_roles();
    const std::string role = index < roles.size() ? roles[index] : "";
    const analysis::HeadMetrics* metrics =
        index < context.shown.metrics.size() ? &context.shown.metrics[index] : nullptr;
    const float top = sheet.y;
    Sheet row(context);
    row.y = top + 8;
    draw_swatch(row, h, top + 8);
    const float left = row.left + indent, room = row.right - left;
    const float gain = context.shown.problem().gain(h);
    const float name =
        row.put(left, tr("common.head", "Head {}", h), room, figure::Font::ui_semibold, 13.5F, theme.ink);
    if (gain == 0.0F)
        strike_out(row.picture, left, row.baseline(13.5F), name, 13.5F, theme.ink);
    if (gain != 1.0F)
        row.put(row.right, tr("common.gain", "head gain {}", number(static_cast<double>(gain), 2)),
                room - name - 12, figure::Font::mono, 12, theme.muted, figure::Align::right);
    row.y += 22;
    const auto line = [&](const std::string& text) {
        if (text.empty())
            return;
        row.put(left, text, room, figure::Font::ui, 12.5F, theme.text);
        row.y += 20;
    };
    line(role.empty() ? "" : tr("heads_panel.built", "built to: {}", role));
    if (metrics != nullptr) {
        line(does(*metrics));
        const figure::Color colour = theme.head(h, context.dims().H).colour;
        for (const analysis::HeadScoreInfo& score : analysis::head_scores()) {
            if (score.bar.empty() || !metrics->has(score.score))
                continue;
            const float value = (*metrics)[score.score];
            const auto ceiling = static_cast<float>(analysis::largest_score(score.score, context.dims().Tk));
            draw_measure(row, tr(score.bar), score_text(score.score, value),
                         ceiling > 0 ? value / ceiling : 0.0F, colour);
        }
    }
    if (const auto change = change_of_head(context, h))
        // Translators: the noun: how much the head changed
        draw_measure(row, tr("heads_panel.change", "change"),
                     change->norm == 0 ? tr("common.none", "none")
                                       : number(change->norm, change->norm < 0.005 ? 4 : 2),
                     change->largest > 0 ? static_cast<float>(change->norm / change->largest) : 0.0F,
                     theme.head(h, context.dims().H).colour);
    row.y += 8;
    const figure::Rect area{sheet.left - 12, top, sheet.width() + 24, row.y - top};
    if (h == context.view.head) {
        sheet.picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight});
        sheet.picture.scene.add(figure::RectItem{.area = {area.x, area.y, 3, area.h}, .fill = theme.ink});
    }
    sheet.picture.append(std::move(row.picture), 0, 0);
    sheet.picture.add_hotspot(area, "Head " + std::to_string(h), PickHead{h},
                              tr("heads_panel.put_head_focus", "Put head {} in focus", h));
    sheet.y = row.y + 4;
}

void explain_bars(Sheet& sheet) {
    const Dims& dims = sheet.context.dims();
    std::string before = tr("heads_panel.measured_sentence", "Measured on this sentence.") + " ";
    for (const analysis::HeadScoreInfo& score : analysis::head_scores()) {
        if (score.bar.empty() ||
            !analysis::score_applies(score.score, dims.Tq, dims.Tk, !sheet.context.shown.problem().cross()))
            continue;
        std::string text = std::exchange(before, {}) + tr(score.explains);
        if (const auto at = text.find("{}"); at != std::string::npos)
            text.replace(at, 2, number(analysis::largest_score(score.score, dims.Tk), 2));
        sheet.paragraph(text, sheet.context.theme.muted);
    }
}

} // namespace

Picture draw_heads(const DrawContext& context) {
    if (context.shown.document->has_head_grid())
        return draw_patterns_panel(context);
    Sheet sheet(context);
    sheet.y = 10;
    for (std::int64_t h = 0; h < context.dims().H; ++h)
        draw_one(sheet, h);
    sheet.y += 10;
    draw_button(sheet.picture, context, {sheet.left, sheet.y, sheet.width(), 32},
                tr("heads_panel.atlas_heads", "Atlas of the heads"), ShowScreen{Screen::atlas}, false,
                with_key(tr("heads_panel.all_heads_every_score", "All heads by every score, in one view"),
                         "atlas screen"));
    sheet.y += context.controls ? 46.0F : 0.0F;
    draw_hairline(sheet.picture, context, sheet.left, sheet.y, sheet.width());
    sheet.y += 10;
    explain_bars(sheet);
    if (change_of_head(context, 0))
        sheet.paragraph(tr("heads_panel.change_b_root_sum",
                           "Change: ‖B − A‖ of {}, the root of the sum of all squared changes.",
                           tensor_info(tensor_compared_by_head(context.view)).name),
                        context.theme.muted);
    sheet.paragraph(tr("heads_panel.kind_token_gets_least",
                       "“does”: the kind of token that gets at least half the weight, on average; a quarter "
                       "is enough for an earlier copy of the token or the token that followed it."),
                    context.theme.muted);
    return sheet.finish();
}

} // namespace headscope::app
