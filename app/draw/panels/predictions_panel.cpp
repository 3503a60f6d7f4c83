#include "app/draw/panels/predictions_panel.h"

#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/panels/cache_panel.h"
#include "app/draw/panels/causes_panel.h"
#include "app/draw/panels/token_chips.h"
#include "app/draw/panels/two_texts_panel.h"
#include "app/draw/panels/writing_panel.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"

#include <algorithm>
#include <cstdint>

namespace headscope::app {

namespace {

constexpr float row_step = 26.0F;

/// Adds a button that removes all later tokens, if the chosen token is not the last and the model generated
/// all later ones.
void write_branch(Sheet& sheet, std::int64_t after, std::int64_t written) {
    if (after < 1 || after > written)
        return;
    draw_button(sheet.picture, sheet.context, {sheet.left, sheet.y, sheet.width(), 30},
                tr("predictions_panel.write_token", "Write on from this token"), RemoveTokens{after}, false,
                tr_n("predictions_panel.takes_back_token",
                     "Removes the {} token after it, so that another one can follow; undo restores it",
                     "Removes the {} tokens after it, so that another one can follow; undo restores them",
                     after, grouped(after)));
    sheet.y += 42;
}

/// Lists abandoned continuations of the same prompt.
void write_branches(Sheet& sheet, const ModelState& model, const RunSpec& part) {
    bool first = true;
    for (std::size_t number = 0; number < model.branches.size(); ++number) {
        const RunSpec& branch = *model.branches[number];
        const auto from = shared_token_count(branch, part);
        if (!from)
            continue;
        if (first)
            sheet.section(tr("predictions_panel.other_branches", "Other branches"),
                          tr("predictions_panel.click_go", "click to go there"));
        first = false;
        const std::vector<std::string>& tokens = branch.inputs->tokens;
        write_branch_tokens(sheet, {tokens.begin() + *from, tokens.end()},
                            tokens[static_cast<std::size_t>(*from - 1)], SelectBranch{number},
                            "branch " + std::to_string(number));
    }
}

/// A token with its probability as a bar, and a tick at its probability before the edits.
void write_odds(Sheet& sheet, const TokenProbability& odds, float end, bool edited) {
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
    const std::string now = number(static_cast<double>(odds.after), 5),
                      before = number(static_cast<double>(odds.before), 5);
    sheet.picture.tips.push_back(
        {{sheet.left, sheet.y, sheet.width(), row_step},
         edited ? tr("predictions_panel.id_without_edits", "{}, id {}: {}, without the edits {}", odds.label,
                     odds.id, now, before)
                : tr("predictions_panel.id", "{}, id {}: {}", odds.label, odds.id, now)});
    sheet.y += row_step;
}

void write_moved(Sheet& sheet, const TokenProbability& odds) {
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

/// The meaning of the logits at a position: a prediction of the token at that position (hidden_words), of the
/// next token (words_before), or neither, because a bidirectional model without mask token has already read
/// the next token (both_ways).
enum class Reads : std::uint8_t { hidden_words, words_before, both_ways };

Reads reads_of(const checkpoint::TextModel& model) {
    return model.masked()                 ? Reads::hidden_words
           : model.model->config().causal ? Reads::words_before
                                          : Reads::both_ways;
}

std::string predictions_title(Reads reads) {
    return reads == Reads::hidden_words   ? tr("predictions_panel.place", "At this position")
           : reads == Reads::words_before ? tr("predictions_panel.next_token", "Next token")
                                          : tr("predictions_panel.token", "At this token");
}

void write_predictions(Sheet& sheet, const Predictions& found, Reads reads) {
    const Theme& theme = sheet.context.theme;
    sheet.section(predictions_title(reads), tr("common.probability", "probability"));
    sheet.paragraph(reads == Reads::hidden_words
                        ? (found.hidden ? tr("predictions_panel.model_guesses_hidden",
                                             "The model's guesses for the hidden word.")
                                        : tr("predictions_panel.model_would_put_place",
                                             "The model's predictions in place of “{}”.", found.token))
                    : reads == Reads::words_before
                        ? tr("predictions_panel.after_token", "After “{}”, token {}, at temperature {}.",
                             found.token, found.position, 1)
                        : tr("predictions_panel.token_temperature",
                             "From “{}”, token {}, at temperature {}. This decoder also reads the tokens "
                             "that follow, so these numbers do not predict the next token.",
                             found.token, found.position, 1),
                    theme.text);
    float end = 0.01F;
    for (const TokenProbability& odds : found.likeliest)
        end = std::max({end, odds.after, found.edited ? odds.before : 0.0F});
    double listed = 0;
    for (const TokenProbability& odds : found.likeliest) {
        write_odds(sheet, odds, end, found.edited);
        listed += static_cast<double>(odds.after);
    }
    sheet.put(sheet.left, tr("predictions_panel.all_others", "all others"), 120, figure::Font::ui, 13,
              theme.muted);
    sheet.put(sheet.right, percent_text(std::max(0.0, 1 - listed)), 60, figure::Font::mono, 12.5F,
              theme.muted, figure::Align::right);
    sheet.y += row_step + 2;
    const std::string full = percent_text(static_cast<double>(end));
    sheet.paragraph(found.edited ? tr("predictions_panel.full_bar_tick_stands",
                                      "A full bar is {}; a tick marks the model without edits.", full)
                                 : tr("predictions_panel.full_bar", "A full bar is {}.", full),
                    theme.muted);
}

void write_change(Sheet& sheet, const ModelState& model, const Predictions& found) {
    const Theme& theme = sheet.context.theme;
    const bool patched = patched_run(*sheet.context.shown.document->part()) != nullptr;
    const bool tempered = model.next_distribution && model.sampling.temperature != 1;
    sheet.section(patched ? tr("predictions_panel.changed_patch", "Changed by the patch")
                          : tr("predictions_panel.changed_edits", "Changed by the edits"),
                  tempered ? tr("predictions_panel.temperature_1_before", "at temperature 1, before → after")
                           : tr("predictions_panel.before_after", "before → after"));
    const int decimals = found.kl >= 0.01 ? 3 : 6;
    sheet.row(tr("predictions_panel.kl_before_after", "KL(before ‖ after)"),
              number(found.kl, decimals) + " nats", true);
    if (found.moved.empty())
        sheet.paragraph(tr("predictions_panel.no_probability_moved", "No probability changed."), theme.muted);
    for (const TokenProbability& odds : found.moved)
        write_moved(sheet, odds);
    if (!model.recomputed.empty())
        sheet.paragraph(model.recomputed, theme.muted);
}

/// Lists the edited layers, if any, with a button that discards the edits.
void write_edited_layers(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Document& document = *context.shown.document;
    const float width = (sheet.width() - 12) / 2;
    if (document.part()->edits.empty())
        return;
    std::string layers;
    for (const auto& [n, edits] : document.part()->edits)
        layers += (layers.empty() ? "" : ", ") +
                  attention_name(*document.part(), attention_place(document.part()->config(), n));
    sheet.row(tr("predictions_panel.edited_layers", "edited layers"), layers);
    draw_button(sheet.picture, context, {sheet.left, sheet.y + 4, width, 30},
                tr("common.drop_all_edits", "Drop all edits"), ResetEdits{}, false,
                tr("predictions_panel.checkpoint_disk_undo",
                   "Returns to the checkpoint on disk; undo restores the edits"));
    sheet.y += 44;
}

/// The controls of the open head.
void write_head(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Document& document = *context.shown.document;
    const std::int64_t h = std::min(context.view.head, context.dims().H - 1);
    const float gain = document.problem.gain(h);
    const bool off = gain == 0.0F;
    const std::string name = open_head_name(document, h);
    if (document.shows_weights() && document.shown_weights()->info().is_mean(document.layer(), h)) {
        sheet.section(name);
        sheet.paragraph(
            tr("predictions_panel.worked_out_models", "Only single heads can be ablated. Open one of them."),
            context.theme.text);
        return write_edited_layers(sheet);
    }
    sheet.section(tr("common.head", "Head {}", name),
                  gain == 1.0F ? ""
                               : tr("common.gain", "head gain {}", number(static_cast<double>(gain), 2)));
    const float width = (sheet.width() - 12) / 2;
    const float top = sheet.y + 4;
    draw_button(sheet.picture, context, {sheet.left, top, width, 32},
                off ? tr("common.switch_on_2", "Restore {}", name) : tr("common.ablate", "Ablate {}", name),
                SetGain{h, off ? 1.0F : 0.0F}, false,
                off ? tr("predictions_panel.gain_1_again", "Sets the head gain back to 1")
                    : with_key(tr("predictions_panel.gain_0_head_adds",
                                  "Sets the head gain to 0, which removes the head's contribution"),
                               "ablate"));
    // A long text has no Edit tab.
    if (!document.is_long())
        draw_button(sheet.picture, context, {sheet.left + width + 12, top, width, 32},
                    tr("predictions_panel.gains_edits", "Edit heads"), ShowTab{LeftTab::edit}, false,
                    tr("predictions_panel.scale_heads_copy_swap", "Scale heads, copy and swap them, undo"));
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
    const RunSpec& part = *document.part();
    if (model.next_distribution)
        write_generation_buttons(sheet, model, part.written > 0);
    if (!model.error.empty())
        sheet.paragraph("⚠ " + model.error, theme.bad);
    const std::int64_t position = position_of(*model.run, text, model.position);
    const bool two_texts = part.two_texts() && !model.run->inputs().source.empty();
    if (two_texts)
        write_source(sheet, model.run->inputs().source.front().tokens, model.run->inputs().T);
    write_tokens(sheet, model.run->inputs().tokens, part.inputs->T - part.written, position);
    if (two_texts)
        write_target_origin(sheet, part);
    write_branch(sheet, part.inputs->T - 1 - position, part.written);
    write_branches(sheet, model, part);
    if (text.masked() && text.tokenizer != nullptr && text.mask_id >= 0 &&
        std::ranges::find(model.run->inputs().ids, text.mask_id) == model.run->inputs().ids.end())
        sheet.paragraph(tr("predictions_panel.type_place_word_hide", "Type {} in place of a word to hide it.",
                           checkpoint::label_of(text, text.mask_id)),
                        theme.muted);
    if (two_texts)
        write_stacks(sheet);
    if (text.tokenizer == nullptr)
        sheet.paragraph(tr("predictions_panel.checkpoint_no",
                           "This checkpoint has no tokenizer: tokens are shown as ids."),
                        theme.muted);
    // The panel describes one position: the chosen one.
    const bool earlier = model.predictions && position + 1 < model.run->inputs().T;
    if (model.next_distribution && earlier) {
        draw_button(sheet.picture, context, {sheet.left, sheet.y, sheet.width(), 30},
                    tr("predictions_panel.after_last_token", "After the last token"),
                    PredictAt{model.run->inputs().T - 1}, false,
                    with_key(tr("predictions_panel.shows_follow_text_how",
                                "Shows the candidates for the next token and how one is drawn"),
                             "last token"));
        sheet.y += 42;
        write_predictions(sheet, *model.predictions, reads_of(text));
    }
    if (model.next_distribution) {
        if (!earlier)
            write_next_token(sheet, model, text);
        write_causes(sheet, model);
        if (model.predictions && model.predictions->edited)
            write_change(sheet, model, *model.predictions);
        if (!earlier)
            write_sampling(sheet, model.sampling);
        write_head(sheet);
        // An encoder has no KV cache, and the cache of cross-attention does not grow.
        if (document.stack() == checkpoint::Stack::own)
            write_kv_cache(sheet);
    } else if (model.running) {
        sheet.paragraph(tr("predictions_panel.computing", "Computing … {} %",
                           number(100 * static_cast<double>(model.fraction), 0)),
                        theme.muted);
    }
    if (model.predictions) {
        if (!model.next_distribution) {
            write_predictions(sheet, *model.predictions, reads_of(text));
            write_causes(sheet, model);
        }
    } else if (text.model->has_head()) {
        // After a finished run without predictions the logits are not finite.
        if (!model.running)
            sheet.paragraph("⚠ " + checkpoint::not_finite_logits(position), theme.bad);
    } else {
        sheet.section(predictions_title(reads_of(text)));
        sheet.paragraph(tr("predictions_panel.checkpoint_no_language",
                           "This checkpoint has no language-model head, so it makes no predictions. Only "
                           "attention is available."),
                        theme.text);
    }
    if (!model.next_distribution)
        write_head(sheet);
    if (!model.next_distribution && model.predictions && model.predictions->edited)
        write_change(sheet, model, *model.predictions);
    return sheet.finish();
}

} // namespace headscope::app
