#include "app/draw/panels/predictions_panel.h"

#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/panels/cache_panel.h"
#include "app/draw/panels/writing_panel.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float row_step = 26.0F;

/// The tokens of the text in lines, those from `written` on underlined; a click selects a token.
void write_tokens(Sheet& sheet, const std::vector<std::string>& tokens, std::int64_t position,
                  std::int64_t written) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    constexpr float size = 12.5F, pad = 5, gap = 3, height = 22;
    constexpr std::int64_t most = 160;
    const auto T = static_cast<std::int64_t>(tokens.size());
    // Shows only the part of a long text around the chosen token.
    const std::int64_t first =
        std::clamp<std::int64_t>(position - most / 2, 0, std::max<std::int64_t>(T - most, 0));
    const std::int64_t last = std::min(T, first + most);
    float x = sheet.left;
    for (std::int64_t i = first; i < last; ++i) {
        const std::string& token = tokens[static_cast<std::size_t>(i)];
        const std::string text = fitted(context, token, figure::Font::ui, size, sheet.width() - 2 * pad);
        const float width = context.measure(text, figure::Font::ui, size) + 2 * pad;
        if (x + width > sheet.right && x > sheet.left) {
            x = sheet.left;
            sheet.y += height + gap;
        }
        const figure::Rect area{x, sheet.y, width, height};
        const bool on = i == position;
        sheet.picture.scene.add(figure::RectItem{.area = area,
                                                 .fill = on ? theme.ink : theme.raise,
                                                 .stroke = on ? theme.ink : theme.line,
                                                 .radius = 4});
        draw_text(sheet.picture, context, x + pad, figure::baseline_for(area.y + height / 2, size), text,
                  on ? figure::Font::ui_medium : figure::Font::ui, size, on ? theme.canvas : theme.ink);
        if (i >= written)
            sheet.picture.scene.add(figure::LineItem{{x + pad, area.bottom() - 3.5F},
                                                     {x + width - pad, area.bottom() - 3.5F},
                                                     on ? theme.canvas : theme.muted,
                                                     1});
        sheet.picture.hotspots.push_back(
            {area, "token " + std::to_string(i), ModelAction(PredictAt{i}),
             "Token " + std::to_string(i) + ": " + token + (i >= written ? ", written by the model" : "")});
        x += width + gap;
    }
    sheet.y += height + 10;
    if (last - first < T)
        sheet.paragraph("Tokens " + grouped(first) + " to " + grouped(last - 1) + " of " + grouped(T) + ".",
                        theme.muted);
}

/// While a token before the last is chosen, and the model wrote all that follows: a button that goes back
/// there.
void write_branch(Sheet& sheet, std::int64_t after, std::int64_t written) {
    if (after < 1 || after > written)
        return;
    draw_button(sheet.picture, sheet.context, {sheet.left, sheet.y, sheet.width(), 30},
                "Write on from this token", ModelAction(TakeBack{after}), false,
                "Takes back the " + counted(after, "token") +
                    " behind it, so that another one can follow; undo brings them back");
    sheet.y += 42;
}

/// A token with its probability as a bar, and a tick at the probability before the edits.
void write_odds(Sheet& sheet, const TokenOdds& odds, float end, bool edited) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const float center = sheet.y + row_step / 2;
    constexpr float name = 92, value = 66;
    sheet.put(sheet.left, odds.label, name - 8, figure::Font::ui_medium, 13, theme.ink);
    const float bar = sheet.left + name, length = sheet.width() - name - value;
    sheet.picture.scene.add(figure::RectItem{.area = {bar, center - 5, length, 10}, .fill = theme.line});
    sheet.picture.scene.add(
        figure::RectItem{.area = {bar, center - 5, length * std::clamp(odds.after / end, 0.0F, 1.0F), 10},
                         .fill = theme.muted});
    if (edited) {
        const float was = bar + length * std::clamp(odds.before / end, 0.0F, 1.0F);
        sheet.picture.scene.add(figure::RectItem{.area = {was - 1, center - 8, 2, 16}, .fill = theme.ink});
    }
    sheet.put(sheet.right, percent_text(static_cast<double>(odds.after)), value - 6, figure::Font::mono,
              12.5F, theme.text, figure::Align::right);
    sheet.picture.tips.push_back(
        {{sheet.left, sheet.y, sheet.width(), row_step},
         odds.label + ", id " + std::to_string(odds.id) + ": " + number(static_cast<double>(odds.after), 5) +
             (edited ? ", without the edits " + number(static_cast<double>(odds.before), 5) : "")});
    sheet.y += row_step;
}

void write_moved(Sheet& sheet, const TokenOdds& odds) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const float center = sheet.y + row_step / 2;
    sheet.put(sheet.left, odds.label, sheet.width() - 176, figure::Font::ui_medium, 13, theme.ink);
    const bool up = odds.after > odds.before;
    const float x = sheet.right - 164;
    draw_text(sheet.picture, context, x + 58, figure::baseline_for(center, 12.5F),
              percent_text(static_cast<double>(odds.before)), figure::Font::mono, 12.5F, theme.muted,
              figure::Align::right);
    draw_text(sheet.picture, context, x + 76, figure::baseline_for(center, 12.5F), "→", figure::Font::ui,
              12.5F, theme.muted, figure::Align::center);
    draw_text(sheet.picture, context, sheet.right - 14, figure::baseline_for(center, 12.5F),
              percent_text(static_cast<double>(odds.after)), figure::Font::mono_semibold, 12.5F, theme.ink,
              figure::Align::right);
    draw_text(sheet.picture, context, sheet.right, figure::baseline_for(center, 12.5F), up ? "↑" : "↓",
              figure::Font::ui, 12.5F, theme.ink, figure::Align::right);
    sheet.y += row_step;
}

void write_predictions(Sheet& sheet, const Predictions& found, bool masked) {
    const Theme& theme = sheet.context.theme;
    sheet.section(masked ? "In this place" : "Next token", "probability");
    sheet.paragraph(masked
                        ? (found.hidden ? "What the model guesses for the hidden word."
                                        : "What the model would put in the place of “" + found.token + "”.")
                        : "After “" + found.token + "”, token " + std::to_string(found.position) + ".",
                    theme.text);
    float end = 0.01F;
    for (const TokenOdds& odds : found.likeliest)
        end = std::max({end, odds.after, found.edited ? odds.before : 0.0F});
    double listed = 0;
    for (const TokenOdds& odds : found.likeliest) {
        write_odds(sheet, odds, end, found.edited);
        listed += static_cast<double>(odds.after);
    }
    sheet.put(sheet.left, "all others", 120, figure::Font::ui, 13, theme.muted);
    sheet.put(sheet.right, percent_text(std::max(0.0, 1 - listed)), 60, figure::Font::mono, 12.5F,
              theme.muted, figure::Align::right);
    sheet.y += row_step + 2;
    sheet.paragraph("A full bar is " + percent_text(static_cast<double>(end)) +
                        (found.edited ? "; a tick stands where the model without edits is." : "."),
                    theme.muted);
}

void write_change(Sheet& sheet, const ModelState& model, const Predictions& found) {
    const Theme& theme = sheet.context.theme;
    sheet.section("Changed by the edits", "before → after");
    const int decimals = found.kl >= 0.01 ? 3 : 6;
    sheet.row("KL(before ‖ after)", number(found.kl, decimals) + " nats", true);
    if (found.moved.empty())
        sheet.paragraph("No probability moved.", theme.muted);
    for (const TokenOdds& odds : found.moved)
        write_moved(sheet, odds);
    if (!model.recomputed.empty())
        sheet.paragraph(model.recomputed, theme.muted);
}

/// Lists the edited layers, if any, with a button that drops the edits.
void write_edited_layers(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Document& document = *context.shown.document;
    const float width = (sheet.width() - 12) / 2;
    if (document.part()->edits.empty())
        return;
    std::string layers;
    for (const auto& [layer, edits] : document.part()->edits)
        layers += (layers.empty() ? "L" : ", L") + std::to_string(layer);
    sheet.row("edited layers", layers);
    draw_button(sheet.picture, context, {sheet.left, sheet.y + 4, width, 30}, "Drop all edits",
                Command(ResetEdits{}), false, "The checkpoint as it is on disk; undo brings them back");
    sheet.y += 44;
}

/// Controls for the open head.
void write_head(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Document& document = *context.shown.document;
    const std::int64_t h = std::min(context.view.head, context.dims().H - 1);
    const float gain = document.problem.gain(h);
    const bool off = gain == 0.0F;
    const std::string name = open_head_name(document, h);
    if (document.shows_weights() && document.shown_weights()->info().is_mean(document.layer(), h)) {
        sheet.section(name);
        sheet.paragraph("A mean is worked out from the heads alone: open one of them to switch it off.",
                        context.theme.text);
        return write_edited_layers(sheet);
    }
    sheet.section("Head " + name, gain == 1.0F ? "" : "gain " + number(static_cast<double>(gain), 2));
    const float width = (sheet.width() - 12) / 2;
    const float top = sheet.y + 4;
    draw_button(sheet.picture, context, {sheet.left, top, width, 32}, (off ? "Switch on " : "Ablate ") + name,
                Command(SetGain{h, off ? 1.0F : 0.0F}), false,
                off ? "Gain 1 again" : with_key("Gain 0: what the head adds is left out", "ablate"));
    draw_button(sheet.picture, context, {sheet.left + width + 12, top, width, 32}, "Gains, edits",
                ViewChange(ShowTab{LeftTab::edit}), false, "Scale heads, copy and swap them, undo");
    sheet.y = top + 44;
    write_edited_layers(sheet);
}

} // namespace

Picture draw_predictions(const DrawContext& context, const ModelState& model) {
    Sheet sheet(context);
    const Theme& theme = context.theme;
    const Document& document = *context.shown.document;
    if (!document.is_checkpoint() || model.run == nullptr)
        return sheet.finish();
    const checkpoint::TextModel& text = *document.part()->model;
    sheet.y = 16;
    const ModelPart& part = *document.part();
    if (model.next)
        write_steps(sheet, model, part.written > 0);
    if (!model.error.empty())
        sheet.paragraph("⚠ " + model.error, theme.bad);
    const std::int64_t position = position_of(*model.run, text, model.position);
    write_tokens(sheet, model.run->inputs().tokens, position, part.inputs->T - part.written);
    write_branch(sheet, part.inputs->T - 1 - position, part.written);
    if (text.masked() && text.tokenizer != nullptr && text.mask_id >= 0 &&
        std::ranges::find(model.run->inputs().ids, text.mask_id) == model.run->inputs().ids.end())
        sheet.paragraph("Type " + checkpoint::label_of(text, text.mask_id) +
                            " in place of a word to hide it.",
                        theme.muted);
    if (text.tokenizer == nullptr)
        sheet.paragraph("This checkpoint has no tokenizer: tokens are their ids.", theme.muted);
    if (model.next) {
        write_next_token(sheet, model, text);
        if (model.predictions && model.predictions->edited)
            write_change(sheet, model, *model.predictions);
        write_sampling(sheet, model.sampling);
        write_head(sheet);
        write_cache(sheet);
    } else if (model.running) {
        sheet.paragraph("Computing … " + number(100 * static_cast<double>(model.fraction), 0) + " %",
                        theme.muted);
    }
    // What can follow the last token stands above, but for what the edits changed.
    if (model.predictions) {
        if (!model.next || model.predictions->edited || position + 1 < model.run->inputs().T)
            write_predictions(sheet, *model.predictions, text.masked());
    } else {
        sheet.section(text.masked() ? "In this place" : "Next token");
        sheet.paragraph("This checkpoint has no language-model head, so it predicts nothing: attention alone "
                        "can be read.",
                        theme.text);
    }
    if (!model.next)
        write_head(sheet);
    if (!model.next && model.predictions && model.predictions->edited)
        write_change(sheet, model, *model.predictions);
    return sheet.finish();
}

} // namespace headscope::app
