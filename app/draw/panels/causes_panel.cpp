#include "app/draw/panels/causes_panel.h"

#include "app/draw/effects/causes_text.h"
#include "app/draw/effects/effects.h"
#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/format.h"
#include "app/state/screens/screen.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float name_column = 96, number_column = 58;

double largest_of(const CausesView& view) {
    double largest = std::max(std::abs(view.causes.rest), 1e-6);
    for (const analysis::PredictionCause& cause : view.causes.largest)
        largest = std::max(largest, std::abs(cause.value));
    return largest;
}

/// A name, a signed bar, and a number.
void write_bar(Sheet& sheet, const std::string& name, double value, double limit, int decimals, bool strong) {
    const Theme& theme = sheet.context.theme;
    const float center = sheet.y + Sheet::row_height / 2;
    sheet.put(sheet.left, name, name_column - 8, strong ? figure::Font::ui_semibold : figure::Font::ui, 13,
              strong ? theme.ink : theme.muted);
    draw_signed_bar(sheet.picture, theme,
                    {sheet.left + name_column, center - 5, sheet.width() - name_column - number_column, 10},
                    value, limit);
    sheet.put(sheet.right, signed_number(value, decimals), number_column - 4, figure::Font::mono, 12.5F,
              theme.ink, figure::Align::right);
    sheet.y += Sheet::row_height;
}

void write_cause(Sheet& sheet, const CausesView& view, std::size_t number, double limit, int decimals) {
    const DrawContext& context = sheet.context;
    const analysis::PredictionCause& cause = view.causes.largest[number];
    const float top = sheet.y;
    write_bar(sheet, component_name(cause.writer), cause.value, limit, decimals, true);
    const std::string detail = cause_detail(view, cause);
    if (!detail.empty()) {
        sheet.y -= 6;
        sheet.put(sheet.left, detail, sheet.width(), figure::Font::ui, Sheet::text_size, context.theme.muted);
        sheet.y += Sheet::row_height - 2;
    }
    if (context.controls && cause.writer.kind == analysis::Writer::Kind::head &&
        cause.writer.stack == context.view.attention.stack)
        sheet.picture.add_hotspot(
            {sheet.left - 8, top, sheet.width() + 16, sheet.y - top}, "cause " + std::to_string(number),
            OpenHead{cause.writer.layer, cause.writer.head}, tr("common.look_head", "Select this head"));
}

/// The parts of the logit difference.
void write_parts(Sheet& sheet, const CausesView& view) {
    const Theme& theme = sheet.context.theme;
    const double limit = largest_of(view);
    std::vector<double> values{view.causes.rest};
    for (const analysis::PredictionCause& cause : view.causes.largest)
        values.push_back(cause.value);
    const SumFormat format = sum_format(values, view.causes.difference);
    sheet.put(sheet.left, tr("causes_panel.pair_logits", "{}, logits", causes_pair(view)), sheet.width(),
              figure::Font::ui, Sheet::text_size, theme.muted);
    sheet.y += Sheet::row_height;
    for (std::size_t n = 0; n < view.causes.largest.size(); ++n)
        write_cause(sheet, view, n, limit, format.decimals);
    write_bar(sheet, tr("causes_panel.everything_else", "everything else"), view.causes.rest, limit,
              format.decimals, false);
    sheet.rule(number_column);
    sheet.row(tr("causes_panel.sum", "sum"),
              (format.approximate ? "≈ " : "") + signed_number(view.causes.difference, format.decimals),
              true);
}

/// The probabilities before and after: gray and black bars.
void write_before_now(Sheet& sheet, const CausesView& view) {
    constexpr std::size_t most_rows = 4;
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const CausesView::Off& off = *view.off;
    float end = 0.01F;
    for (std::size_t n = 0; n < view.causes.likeliest.size(); ++n)
        end = std::max({end, view.causes.likeliest[n].probability, off.chances[n]});
    sheet.put(sheet.left, tr("causes_panel.gray_before", "gray: before, black: now"), sheet.width(),
              figure::Font::ui, Sheet::text_size, theme.muted);
    sheet.y += Sheet::row_height;
    for (std::size_t n = 0; n < std::min(view.causes.likeliest.size(), most_rows); ++n) {
        const checkpoint::TokenChance& before = view.causes.likeliest[n];
        constexpr float name = 70, numbers = 122;
        const float center = sheet.y + Sheet::row_height / 2, bar = sheet.left + name,
                    length = sheet.width() - name - numbers;
        sheet.put(sheet.left, view.word(before.id), name - 8, figure::Font::ui_medium, 13, theme.ink);
        const auto draw = [&](float top, float value, figure::Color color) {
            sheet.picture.scene.add(figure::RectItem{
                .area = {bar, top, std::max(length * std::clamp(value / end, 0.0F, 1.0F), 1.0F), 6},
                .fill = color});
        };
        draw(center - 7, before.probability, theme.line2);
        draw(center + 1, off.chances[n], theme.ink);
        sheet.put(sheet.right,
                  percent_text(static_cast<double>(before.probability)) + " → " +
                      percent_text(static_cast<double>(off.chances[n])),
                  numbers - 6, figure::Font::mono, 12.5F, theme.text, figure::Align::right);
        sheet.y += Sheet::row_height;
    }
}

void write_buttons(Sheet& sheet, const CausesView& view) {
    const DrawContext& context = sheet.context;
    if (!context.controls)
        return;
    if (const std::optional<HeadSwitch> change = head_switch(view)) {
        const std::string name = head_name(change->head);
        const bool off = change->gain == 0;
        draw_button(sheet.picture, context, {sheet.left, sheet.y + 8, sheet.width(), 34},
                    off ? tr("causes_panel.switch_off", "Switch it off and see")
                        : tr("causes_panel.switch_on", "Switch it on again"),
                    SetHeadGain{change->head.place, change->head.head, change->gain}, true,
                    off ? tr("causes_panel.switch_off_tip",
                             "Sets the head gain of {} to 0 and runs the model again; undo restores it", name)
                        : tr("causes_panel.switch_on_tip", "Sets the head gain of {} back to 1", name));
        sheet.y += 50;
    }
    const float half = (sheet.width() - 10) / 2;
    const analysis::LogitQuestion& question = view.causes.question;
    ShowCauseDetails details{.token = question.token, .against = question.against};
    if (const std::optional<HeadSwitch> change = head_switch(view)) {
        details.place = change->head.place;
        details.head = change->head.head;
    }
    draw_button(
        sheet.picture, context, {sheet.left, sheet.y, half, 30}, tr("causes_panel.details", "Details"),
        details, false,
        tr("causes_panel.details_tip", "Opens Effects with the parts of all heads for these two tokens"));
    draw_button(sheet.picture, context, {sheet.left + half + 10, sheet.y, half, 30},
                tr("causes_panel.close", "Close"), ShowCauses{false}, false,
                tr("causes_panel.close_tip", "Closes this answer"));
    sheet.y += 42;
}

} // namespace

void write_causes(Sheet& sheet, const ModelState& model) {
    const DrawContext& context = sheet.context;
    if (!model.predictions || !has_screen(*context.shown.document, Screen::effects))
        return;
    const CausesView* const view = context.shown.causes.get();
    if (!context.view.attention.causes_open) {
        if (context.controls && !model.predictions->likeliest.empty())
            draw_button(
                sheet.picture, context, {sheet.left, sheet.y, sheet.width(), 30},
                tr("causes_text.why_title", "Why “{}”?",
                   bare_word(model.predictions->likeliest.front().label)),
                ShowCauses{true}, false,
                tr("causes_panel.why_tip", "Names the heads and MLPs that this prediction comes from"));
        sheet.y += 42;
        return;
    }
    if (view == nullptr) {
        sheet.section(tr("causes_panel.why", "Why?"));
        sheet.paragraph(tr("causes_panel.computing", "The causes are being computed."), context.theme.muted);
        return;
    }
    sheet.section(causes_title(*view));
    sheet.paragraph(causes_sentence(*view), context.theme.text);
    if (view->off)
        write_before_now(sheet, *view);
    else
        write_parts(sheet, *view);
    write_buttons(sheet, *view);
}

} // namespace headscope::app
