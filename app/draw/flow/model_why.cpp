#include "app/draw/flow/model_parts.h"

#include "app/draw/effects/causes_text.h"
#include "app/draw/effects/effects.h"
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
using figure::Rect;

/// The columns of the area below the Flow: the answer, the causes, the buttons.
struct WhyColumns {
    Rect words, causes, buttons;
    bool sparks = false, details = false;
};

WhyColumns why_columns(const Rect& area) {
    WhyColumns out;
    const float buttons = std::clamp(area.w * 0.17F, 160.0F, 238.0F);
    out.buttons = {area.right() - buttons, area.y + 20, buttons, area.h - 20};
    const bool three = area.w >= 760;
    const float left = three ? std::clamp(area.w * 0.32F, 240.0F, 470.0F) : area.w - buttons - 24;
    out.words = {area.x, area.y + 12, left, area.h - 12};
    if (!three)
        return out;
    const float x = out.words.right() + 40;
    out.causes = {x, area.y + 12, std::min(out.buttons.x - 40 - x, 620.0F), area.h - 12};
    out.sparks = out.causes.w >= 400;
    out.details = area.h >= 150;
    return out;
}

/// The attention weights of a head at the position, as small bars.
void draw_spark(Picture& picture, const ModelFlow& flow, const analysis::PredictionCause& cause,
                const Rect& area) {
    if (cause.weights.empty())
        return;
    const figure::Color color = flow.context.head_colours(cause.writer.head).colour;
    const float step = area.w / static_cast<float>(cause.weights.size());
    for (std::size_t j = 0; j < cause.weights.size(); ++j) {
        const float height = std::max(area.h * cause.weights[j], 1.0F);
        picture.scene.add(figure::RectItem{.area = {area.x + step * static_cast<float>(j),
                                                    area.bottom() - height, std::max(step - 1, 0.5F), height},
                                           .fill = color});
    }
}

void draw_causes(Picture& picture, const ModelFlow& flow, const CausesView& view, const WhyColumns& columns) {
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    const Rect& area = columns.causes;
    double limit = std::max(std::abs(view.causes.rest), 1e-6);
    std::vector<double> values{view.causes.rest};
    for (const analysis::PredictionCause& cause : view.causes.largest) {
        limit = std::max(limit, std::abs(cause.value));
        values.push_back(cause.value);
    }
    const SumFormat format = sum_format(values, view.causes.difference);
    const float name = columns.details ? 176.0F : 92.0F, spark = columns.sparks ? 110.0F : 0;
    const float bars = area.x + name + spark, number_x = area.right();
    const float bar_width = std::max(number_x - 70 - bars - 12, 30.0F);
    float y = area.y + 12;
    draw_text(picture, context, area.x, y, tr("model_why.largest_causes", "largest causes"), Font::ui, 12.5F,
              theme.muted);
    draw_text(picture, context, number_x, y, tr("common.logits", "logits"), Font::ui, 12.5F, theme.muted,
              Align::right);
    y += 8;
    const float row = columns.details ? 36.0F : 22.0F;
    for (std::size_t n = 0; n < view.causes.largest.size(); ++n) {
        const analysis::PredictionCause& cause = view.causes.largest[n];
        const bool head = cause.writer.kind == analysis::Writer::Kind::head;
        const figure::Color color = head ? context.head_colours(cause.writer.head).colour : theme.muted;
        picture.scene.add(figure::RectItem{.area = {area.x, y + 2, 3, row - 6}, .fill = color});
        draw_text(picture, context, area.x + 11, y + 15, component_name(cause.writer), Font::ui_semibold, 13,
                  theme.ink);
        if (columns.details)
            draw_text(picture, context, area.x + 11, y + 30,
                      fitted(context, cause_detail(view, cause), Font::ui, 12, name - 16), Font::ui, 12,
                      theme.muted);
        if (columns.sparks)
            draw_spark(picture, flow, cause, {area.x + name, y + 3, spark - 14, row - 10});
        draw_signed_bar(picture, theme, {bars, y + (row - 14) / 2 - 2, bar_width, 14}, cause.value, limit);
        draw_text(picture, context, number_x, figure::baseline_for(y + (row - 4) / 2, 13),
                  signed_number(cause.value, format.decimals), Font::mono, 13, theme.ink, Align::right);
        if (context.controls && head)
            picture.add_hotspot(
                {area.x, y, area.w, row}, "cause " + std::to_string(n),
                OpenHead{cause.writer.layer, cause.writer.head},
                tr("model_why.show_head", "Shows {} in the Flow", component_name(cause.writer)));
        y += row;
    }
    const float baseline = y + 13;
    draw_text(picture, context, area.x + 11, baseline, tr("causes_panel.everything_else", "everything else"),
              Font::ui, 12.5F, theme.muted);
    draw_text(picture, context, number_x, baseline, signed_number(view.causes.rest, format.decimals),
              Font::mono, 12.5F, theme.text, Align::right);
    draw_text(picture, context, area.x + 11, baseline + 18, causes_pair(view), Font::ui_semibold, 12.5F,
              theme.ink);
    draw_text(picture, context, number_x, baseline + 18,
              (format.approximate ? "≈ " : "= ") + signed_number(view.causes.difference, format.decimals),
              Font::mono_semibold, 12.5F, theme.ink, Align::right);
}

/// The probabilities before and after an ablation.
void draw_before_now(Picture& picture, const ModelFlow& flow, const CausesView& view, const Rect& area) {
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    float y = area.y + 12;
    draw_text(picture, context, area.x, y,
              tr("model_why.probability_after", "probability after “{}”; gray: before, black: now", view.at),
              Font::ui, 12.5F, theme.muted);
    draw_text(picture, context, area.right(), y, tr("model_why.before_now", "before → now"), Font::ui, 12.5F,
              theme.muted, Align::right);
    y += 12;
    constexpr float name = 80, numbers = 136, row = 26;
    const auto rows = std::min(view.causes.likeliest.size(),
                               static_cast<std::size_t>(std::max((area.bottom() - y) / row, 1.0F)));
    for (std::size_t n = 0; n < std::min<std::size_t>(rows, 4); ++n) {
        const checkpoint::TokenChance& before = view.causes.likeliest[n];
        const float now = view.off->chances[n];
        const float length = area.w - name - numbers;
        draw_text(picture, context, area.x, y + 16,
                  fitted(context, view.word(before.id), Font::ui_semibold, 13, name - 8), Font::ui_semibold,
                  13, theme.ink);
        picture.scene.add(
            figure::RectItem{.area = {area.x + name, y + 3, std::max(length * before.probability, 1.0F), 8},
                             .fill = theme.line2});
        picture.scene.add(figure::RectItem{.area = {area.x + name, y + 12, std::max(length * now, 1.0F), 8},
                                           .fill = theme.ink});
        draw_text(picture, context, area.right(), y + 16,
                  percent_text(static_cast<double>(before.probability)) + " → " +
                      percent_text(static_cast<double>(now)),
                  Font::mono, 12.5F, theme.text, Align::right);
        y += row;
    }
}

void draw_why_buttons(Picture& picture, const ModelFlow& flow, const CausesView& view, const Rect& area) {
    const DrawContext& context = flow.context;
    if (!context.controls)
        return;
    const analysis::LogitQuestion& question = view.causes.question;
    ShowCauseDetails details{.token = question.token, .against = question.against};
    float y = area.y;
    if (const std::optional<HeadSwitch> change = head_switch(view)) {
        details.place = change->head.place;
        details.head = change->head.head;
        const std::string name = head_name(change->head);
        const bool off = change->gain == 0;
        draw_button(picture, context, {area.x, y, area.w, 36},
                    off ? tr("causes_panel.switch_off", "Switch it off and see")
                        : tr("causes_panel.switch_on", "Switch it on again"),
                    SetHeadGain{change->head.place, change->head.head, change->gain}, true,
                    off ? tr("causes_panel.switch_off_tip",
                             "Sets the head gain of {} to 0 and runs the model again; undo restores it", name)
                        : tr("causes_panel.switch_on_tip", "Sets the head gain of {} back to 1", name));
        y += 44;
    }
    draw_button(
        picture, context, {area.x, y, area.w, 32}, tr("causes_panel.details", "Details"), details, false,
        tr("causes_panel.details_tip", "Opens Effects with the parts of all heads for these two tokens"));
}

} // namespace

void draw_model_causes(Picture& picture, const ModelFlow& flow) {
    const Rect& area = flow.layout.why;
    if (area.w <= 0)
        return;
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    draw_hairline(picture, context, area.x, area.y, area.w);
    if (flow.moment.plays) {
        draw_paragraph(picture, context, area.x, area.y + 34, area.w, flow.moment.subtitle, Font::ui, 17, 24,
                       theme.ink);
        return;
    }
    const CausesView* const view = flow.causes();
    if (view == nullptr) {
        draw_text(picture, context, area.x, area.y + 32,
                  tr("causes_panel.computing", "The causes are being computed."), Font::ui, 13.5F,
                  theme.muted);
        return;
    }
    const WhyColumns columns = why_columns(area);
    const bool low = area.h < 150;
    const float title = low ? 16 : 20, text = low ? 13 : 14.5F;
    draw_text(picture, context, columns.words.x, columns.words.y + title,
              fitted(context, causes_title(*view), Font::ui_semibold, title, columns.words.w),
              Font::ui_semibold, title, theme.ink);
    draw_paragraph(picture, context, columns.words.x, columns.words.y + title + text + 12, columns.words.w,
                   causes_sentence(*view), Font::ui, text, std::round(text * 1.5F), theme.text);
    if (columns.causes.w > 0) {
        if (view->off)
            draw_before_now(picture, flow, *view, columns.causes);
        else
            draw_causes(picture, flow, *view, columns);
    }
    draw_why_buttons(picture, flow, *view, columns.buttons);
}

} // namespace headscope::app
