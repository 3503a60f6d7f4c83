#include "app/draw/effects/effects.h"

#include "app/draw/effects/mean_parts.h"
#include "app/draw/effects/run_progress.h"
#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/edit_marks.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using analysis::LogitPart;
using figure::Align;
using figure::Font;

constexpr float table_top = 150, label_width = 36, before_mlp = 10, totals_width = 190,
                part_number_width = 60;

/// The layout of the table: heads, a gap, the MLP, and a bar for the layer.
struct Table {
    std::int64_t L = 0, H = 0;
    float left = 0, top = 0, cell_w = 0, cell_h = 0, totals = 0, right = 0;
    bool numbers = false;

    figure::Rect head(std::int64_t l, std::int64_t h) const {
        return {left + cell_w * static_cast<float>(h), top + cell_h * static_cast<float>(l), cell_w - 1,
                cell_h - 1};
    }
    figure::Rect mlp(std::int64_t l) const {
        figure::Rect area = head(l, H);
        area.x += before_mlp;
        return area;
    }
    float bottom() const { return top + cell_h * static_cast<float>(L); }
};

Table table_of(const DrawContext& context) {
    const Effects& effects = *context.shown.effects;
    Table table{.L = std::ssize(effects.heads),
                .H = std::ssize(effects.heads.front()),
                .left = canvas_pad + label_width,
                .top = table_top,
                .right = context.width - canvas_pad};
    const float columns = static_cast<float>(table.H + 1);
    const bool wide = context.width > 620;
    const float room = table.right - table.left - before_mlp - (wide ? totals_width : part_number_width);
    table.cell_w = std::floor(std::clamp(room / columns, 6.0F, 72.0F));
    constexpr float readable = 36;
    table.numbers = table.cell_w >= readable;
    const float tall = std::max(context.height * 0.42F, 200.0F) / static_cast<float>(table.L);
    table.cell_h = std::floor(std::clamp(tall, table.numbers ? 19.0F : 8.0F, table.L > 6 ? 26.0F : 36.0F));
    table.totals = table.mlp(0).right() + 16;
    return table;
}

void draw_column_names(Picture& picture, const DrawContext& context, const Table& table) {
    const Theme& theme = context.theme;
    const std::int64_t every = table.cell_w >= 26 ? 1 : table.cell_w >= 13 ? 2 : 4;
    const float baseline = table.top - 10;
    for (std::int64_t h = 0; h < table.H; h += every) {
        const figure::Rect area = table.head(0, h);
        const bool open = h == context.view.head;
        draw_text(picture, context, area.x + area.w / 2, baseline, "H" + std::to_string(h),
                  open ? Font::ui_semibold : Font::ui, 12, open ? theme.ink : theme.muted, Align::center);
    }
    const figure::Rect mlp = table.mlp(0);
    if (shows_losses(context))
        return;
    draw_text(picture, context, mlp.x + mlp.w / 2, baseline, "MLP", Font::ui, 12, theme.muted, Align::center);
    draw_text(picture, context, table.totals, baseline, tr("effects_page.layer_total", "layer total"),
              Font::ui, 12, theme.muted);
}

/// Draws the bar of a layer's total, from a common zero, and its number.
void draw_total(Picture& picture, const DrawContext& context, const Table& table, std::int64_t l) {
    const Theme& theme = context.theme;
    const Effects& effects = *context.shown.effects;
    const double total = effects.layers[static_cast<std::size_t>(l)];
    const figure::Rect row = table.head(l, 0);
    const float bars = table.right - part_number_width - table.totals;
    if (bars > 40) {
        double low = 0, high = 0;
        for (const double one : effects.layers) {
            low = std::min(low, one);
            high = std::max(high, one);
        }
        const double span = std::max(high - low, 1e-9);
        const auto place = [&](double value) {
            return table.totals + static_cast<float>((value - low) / span) * bars;
        };
        const float zero = place(0), end = place(total);
        picture.scene.add(figure::RectItem{
            .area = {std::min(zero, end), row.y + 5, std::max(std::abs(end - zero), 1.0F), row.h - 10},
            .fill = sign_colour(theme, total)});
        picture.scene.add(figure::LineItem{{zero, row.y}, {zero, row.bottom()}, theme.line2, 1});
    }
    draw_text(picture, context, table.right, figure::baseline_for(row.y + row.h / 2, 12.5F),
              signed_number(total, 2), Font::mono, 12.5F, theme.ink, Align::right);
}

/// The content of a head's cell.
struct TableCell {
    std::optional<double> value; ///< empty: not known yet
    std::string words;
};

TableCell cell_of(const DrawContext& context, std::int64_t l, std::int64_t h) {
    const Effects& effects = *context.shown.effects;
    const LogitPart& part = effects.part(l, h);
    const std::string head = component_name(part.writer);
    if (!shows_losses(context))
        return {part.value, tr("effects_page.adds_logit", "{} adds {} to the logit of {}", head,
                               signed_number(part.value, 3), logit_label(effects))};
    const EffectsSweep* const sweep = context.shown.sweep.get();
    const auto known = sweep == nullptr
                           ? std::nullopt
                           : sweep->heads[static_cast<std::size_t>(l)][static_cast<std::size_t>(h)];
    if (!known)
        return {std::nullopt, context.shown.sweep_stopped
                                  ? tr("common.not_measured", "{}: not measured", head)
                                  : tr("common.not_reached_yet", "{}: not reached yet", head)};
    const std::string lost = number(known->loss, 3), changes = number(known->divergence, 4);
    const bool difference = !effects.against.empty();
    if (shows_mean_ablation(context))
        return {known->loss, difference ? tr("effects_page.mean_output_difference",
                                             "With the mean output of {} the logit difference falls by {}; "
                                             "KL divergence of the prediction: {} nats",
                                             head, lost, changes)
                                        : tr("effects_page.mean_output_logit_falls",
                                             "With the mean output of {} the logit falls by {}; KL "
                                             "divergence of the prediction: {} nats",
                                             head, lost, changes)};
    return {known->loss,
            difference
                ? tr("effects_page.without_difference_falls",
                     "Without {} the logit difference falls by {}; KL divergence of the prediction: {} nats",
                     head, lost, changes)
                : tr("effects_page.without_logit_falls",
                     "Without {} the logit falls by {}; KL divergence of the prediction: {} nats", head, lost,
                     changes)};
}

double limit_of(const DrawContext& context) {
    if (!shows_losses(context))
        return effects_limit(context.shown.effects->max_abs);
    return effects_limit(context.shown.sweep == nullptr ? 0 : context.shown.sweep->max_abs);
}

/// Draws one cell for a layer that has a delta layer in place of heads.
void draw_delta_cell(Picture& picture, const DrawContext& context, const Table& table, std::int64_t l,
                     double limit) {
    const LogitPart& part = context.shown.effects->part(l, 0);
    const figure::Rect first = table.head(l, 0), last = table.head(l, table.H - 1);
    const figure::Rect area{first.x, first.y, last.x + last.w - first.x, first.h};
    const std::string name = component_name(part.writer);
    if (shows_losses(context)) {
        draw_missing_cell(picture, context.theme, area, true);
        picture.tips.push_back({area, tr("common.not_measured", "{}: not measured", name)});
        return;
    }
    draw_signed_cell(picture, context, area, part.value, limit, table.numbers);
    picture.tips.push_back({area, tr("effects_page.adds_logit", "{} adds {} to the logit of {}", name,
                                     signed_number(part.value, 3), logit_label(*context.shown.effects))});
}

void draw_table(Picture& picture, const DrawContext& context, const Table& table) {
    const Theme& theme = context.theme;
    const Effects& effects = *context.shown.effects;
    const double limit = limit_of(context);
    draw_column_names(picture, context, table);
    for (std::int64_t l = 0; l < table.L; ++l) {
        const bool open = l == context.view.attention.layer;
        const figure::Rect row = table.head(l, 0);
        if (table.cell_h >= 13 || l % 2 == 0)
            draw_text(picture, context, table.left - 8, figure::baseline_for(row.y + row.h / 2, 12),
                      "L" + std::to_string(l), open ? Font::ui_semibold : Font::ui, 12,
                      open ? theme.ink : theme.muted, Align::right);
        const bool without_heads = effects.part(l, 0).writer.kind == analysis::Writer::Kind::delta;
        if (without_heads)
            draw_delta_cell(picture, context, table, l, limit);
        for (std::int64_t h = 0; h < table.H && !without_heads; ++h) {
            const TableCell cell = cell_of(context, l, h);
            const figure::Rect area = table.head(l, h);
            const HeadEdits* const edits = head_edits(context, l, h);
            if (cell.value)
                draw_signed_cell(picture, context, area, *cell.value, limit, table.numbers, 2,
                                 edits == nullptr ? 0 : edit_marks_width(area, *edits));
            else
                draw_missing_cell(picture, theme, area, context.shown.sweep_stopped);
            if (edits != nullptr)
                draw_edit_marks(picture, context, area, *edits);
            if (context.controls)
                picture.add_hotspot(area, "effect " + std::to_string(l) + "." + std::to_string(h),
                                    OpenHead{l, h},
                                    cell.words + on_new_line(head_spread(context, l, h)) +
                                        (edits == nullptr ? "" : "\n" + edits_text(*edits)));
        }
        if (shows_losses(context))
            continue;
        const double mlp = effects.mlps[static_cast<std::size_t>(l)];
        const figure::Rect area = table.mlp(l);
        draw_signed_cell(picture, context, area, mlp, limit, table.numbers);
        picture.tips.push_back(
            {area, tr("effects_page.mlp_layer_adds", "The MLP of layer {} adds {} to the logit of {}", l,
                      signed_number(mlp, 3), logit_label(effects)) +
                       on_new_line(mlp_spread(context, l))});
        draw_total(picture, context, table, l);
    }
    if (context.view.attention.layer < table.L && context.view.head < table.H) {
        draw_selected_cell(picture, theme, table.head(context.view.attention.layer, context.view.head));
    }
}

/// Draws the marks of edited heads, the legend, and the sum of all components. Returns the lower edge.
float draw_sum(Picture& picture, const DrawContext& context, const Table& table) {
    const Theme& theme = context.theme;
    const Effects& effects = *context.shown.effects;
    const double limit = limit_of(context);
    const std::vector<const HeadEdits*> edited = edited_heads(context, table.L, table.H);
    constexpr float marks_height = 24;
    draw_marks_legend(picture, context, table.left, table.bottom() + 6, table.right - table.left, edited);
    const float y = table.bottom() + 14 + (edited.empty() ? 0 : marks_height);
    constexpr float width = 132, height = 8;
    draw_ramp(picture, theme.diverging, table.left, y, width);
    const float below = y + height + 15;
    draw_text(picture, context, table.left, below, number(-limit, 1), Font::mono, 12, theme.muted);
    draw_text(picture, context, table.left + width / 2, below, "0", Font::mono, 12, theme.muted,
              Align::center);
    draw_text(picture, context, table.left + width, below, signed_number(limit, 1), Font::mono, 12,
              theme.muted, Align::right);
    const float words = table.left + width + 16;
    draw_text(picture, context, words, y + 8,
              !shows_losses(context) ? tr("effects_page.logits_towards", "logits towards {}", effects.token)
              : shows_mean_ablation(context) ? tr("common.falls_heads_mean", "fall under mean ablation")
                                             : tr("common.falls_without_head", "fall under zero ablation"),
              Font::ui, 12.5F, theme.text);
    draw_text(
        picture, context, words, below + 2,
        shows_losses(context) ? tr("effects_page.below_0_violet_rises", "below 0 (violet): rises")
        : effects.against.empty()
            ? tr("effects_page.below_0_violet_away", "below 0 (violet): away from it")
            : tr("effects_page.below_0_violet_towards", "below 0 (violet): towards {}", effects.against),
        Font::ui, 12.5F, theme.text);
    if (shows_losses(context)) {
        const bool stopped = context.shown.sweep_stopped;
        if (const EffectsSweep* const sweep = context.shown.sweep.get())
            draw_run_progress(picture, context, words + 176, y - 4, {sweep->done, sweep->count, stopped});
        return draw_paragraph(
            picture, context, canvas_pad, below + 32, table.right - canvas_pad,
            (stopped ? tr("effects_page.hatched_heads_not_measured", "Hatched heads are not measured.") + " "
                     : "") +
                (shows_mean_ablation(context)
                     ? tr("effects_page.each_head_alone_gives",
                          "Mean ablation: the output of one head at a time is replaced by its mean over the "
                          "text, and the whole model runs again.")
                     : tr("effects_page.each_head_switched_alone",
                          "Zero ablation: the output of one head at a time is set to 0, and the whole model "
                          "runs again.")) +
                " " +
                tr("effects_page.numbers_not_add_up", "These numbers do not add up: later heads can "
                                                      "compensate for the missing head, or depend on it."),
            Font::ui, 12.5F, 18, theme.muted);
    }
    // All terms that add up to the logit, in one line at the right.
    std::vector<std::pair<std::string, double>> terms{
        {tr("common.heads", "heads"), effects.all_heads},
        {tr("effects_page.mlps", "MLPs"), effects.all_mlps},
        {tr("common.embedding", "embedding"), effects.embedding}};
    if (effects.other_attention != 0)
        terms.insert(terms.begin() + 1, {!context.shown.document->part()->config().delta_layers.empty()
                                             ? tr("effects_page.delta_layers", "delta layers")
                                         : effects.stack == checkpoint::Stack::cross
                                             ? tr("effects_page.own_heads", "self heads")
                                             : tr("effects_page.cross_heads", "cross heads"),
                                         effects.other_attention});
    if (effects.biases != 0)
        terms.emplace_back(tr("common.biases", "biases"), effects.biases);
    std::vector<double> values;
    std::ranges::transform(terms, std::back_inserter(values), &std::pair<std::string, double>::second);
    const SumFormat format = sum_format(values, effects.attribution.logit);
    float x = table.right;
    const float line = below + 30;
    x -= draw_text(picture, context, x, line,
                   (format.approximate ? "≈ " : "= ") +
                       signed_number(effects.attribution.logit, format.decimals),
                   Font::mono, 13, theme.ink, Align::right) +
         16;
    for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
        x -= draw_text(picture, context, x, line, signed_number(term->second, format.decimals), Font::mono,
                       12.5F, theme.text, Align::right) +
             6;
        x -= draw_text(picture, context, x, line, term->first, Font::ui, 12.5F, theme.muted, Align::right) +
             14;
    }
    return line + 16;
}

} // namespace

void draw_question_fields(Picture& picture, const DrawContext& context) {
    const Effects& effects = *context.shown.effects;
    if (!context.controls || effects.mean != nullptr) // each prompt of a mean has tokens of its own
        return;
    const Theme& theme = context.theme;
    constexpr float width = 118, top = 84, height = 28;
    float x = context.width - canvas_pad;
    const auto field = [&](const std::string& caption, const std::string& label, const std::string& text,
                           AskEffects::What what, const std::string& tip) {
        x -= width;
        picture.fields.push_back({.area = {x, top, width, height},
                                  .label = label,
                                  .text = text,
                                  .action =
                                      [what](const std::string& typed) {
                                          return AskEffects{what, typed};
                                      },
                                  .tip = tip,
                                  .controls = text::ControlCharacters::kept});
        x -= 8 + draw_text(picture, context, x - 8, figure::baseline_for(top + height / 2, 12.5F), caption,
                           Font::ui, 12.5F, theme.muted, Align::right);
        x -= 16;
    };
    const auto bare = [](std::string label) {
        constexpr std::string_view blank = "·";
        return label.starts_with(blank) && label.size() > blank.size() ? label.substr(blank.size()) : label;
    };
    // Translators: before a field with a token: the logits for one token, against another
    field(tr("effects_page.against", "against"), "against", bare(effects.against), AskEffects::What::against,
          tr("effects_page.token_whose_logit_taken",
             "The token whose logit is subtracted; empty: the mean over the vocabulary"));
    // Translators: before a field with a token: the logits for one token, against another
    field(tr("effects_page.for", "for"), "for", bare(effects.token), AskEffects::What::token,
          tr("effects_page.token_whose_logit_taken_2", "The token whose logit is attributed"));
    draw_text_button(picture, context, x - 62, top, tr("effects_page.likeliest", "Top 2"), false,
                     AskEffects{AskEffects::What::usual, {}},
                     tr("effects_page.two_tokens_model_built",
                        "The two most likely tokens of the unedited model at this position"));
}

std::string component_name(const analysis::Writer& component) {
    using Kind = analysis::Writer::Kind;
    const std::string layer = "L" + std::to_string(component.layer);
    const bool cross = component.stack == checkpoint::Stack::cross;
    switch (component.kind) {
    case Kind::head: {
        const std::string name = layer + " H" + std::to_string(component.head);
        // Translators: {} is a head or a bias of the cross-attention
        return cross ? tr("effects_page.cross", "cross {}", name) : name;
    }
    case Kind::mlp:
        return layer + " MLP";
    case Kind::delta:
        return layer + " delta";
    case Kind::embedding:
        return tr("common.embedding", "embedding");
    case Kind::position:
        return tr("common.position", "position");
    case Kind::embedding_norm_bias:
        return tr("common.embedding_norm_bias", "embedding norm bias");
    case Kind::norm1_bias:
        return cross ? tr("effects_page.cross_norm1_bias", "cross {} norm1 bias", layer)
                     : tr("effects_page.norm1_bias", "{} norm1 bias", layer);
    case Kind::norm2_bias:
        return cross ? tr("effects_page.cross_norm2_bias", "cross {} norm2 bias", layer)
                     : tr("effects_page.norm2_bias", "{} norm2 bias", layer);
    case Kind::final_norm_bias:
        return tr("common.final_norm_bias", "final norm bias");
    case Kind::head_bias:
        return tr("common.head_bias", "logit bias");
    case Kind::output_bias:
        return cross ? tr("effects_page.cross", "cross {}", layer + " b_O") : layer + " b_O";
    case Kind::projection_bias:
        break;
    }
    return component.name();
}

std::string logit_label(const Effects& effects) {
    return effects.against.empty() ? tr("effects_page.mean", "{} − mean", effects.token)
                                   : effects.token + " − " + effects.against;
}

double effects_limit(double largest) {
    return std::max(std::ceil(largest * 10) / 10, 0.1);
}

bool shows_mean_ablation(const DrawContext& context) {
    return context.view.attention.effects == EffectKind::averaged;
}

bool shows_losses(const DrawContext& context) {
    const EffectKind kind = context.view.attention.effects;
    return kind == EffectKind::ablated || kind == EffectKind::averaged;
}

Picture draw_effects_strip(const DrawContext& context) {
    const EffectKind now = context.view.attention.effects;
    const auto tab = [&](const std::string& label, EffectKind kind, const std::string& tip) {
        return Segment{.label = label, .action = ShowEffects{kind}, .on = now == kind, .tip = tip};
    };
    Picture picture;
    draw_strip_tabs(
        picture, context,
        {tab(tr("effects_page.direct", "Direct"), EffectKind::direct,
             tr("effects_page.each_writer_adds_two", "The contribution of each residual stream component to "
                                                     "the logit, or to the difference of two logits")),
         tab(tr("effects_page.source", "By source"), EffectKind::by_source,
             tr("effects_page.open_head_brings_every",
                "The contribution of the open head at every position, by the token that it reads")),
         tab(tr("effects_page.ablated", "Zero ablation"), EffectKind::ablated,
             tr("effects_page.lost_head_switched",
                "The fall of the logit if the output of a head is set to 0")),
         tab(tr("effects_page.averaged", "Mean ablation"), EffectKind::averaged,
             tr("effects_page.lost_head_gives_mean", "The fall of the logit if the output of a head is "
                                                     "replaced by its mean over this text, at every token"))},
        32, {},
        !shows_losses(context)
            ? tr("effects_page.norms_held_scale_run", "frozen norm: its scale is that of this run")
            : "");
    return picture;
}

Picture draw_effects_page(const DrawContext& context) {
    const Effects* const effects = context.shown.effects.get();
    const bool by_source = context.view.attention.effects == EffectKind::by_source;
    if (effects == nullptr || (by_source && effects->mean != nullptr))
        return message_view(context, tr("effects_page.heads_prediction", "Logit attribution of the heads"),
                            tr("effects_page.every_writers_part_worked",
                               "The contribution of every component is being computed."));
    Picture picture = empty_view(context);
    if (by_source) {
        draw_sources_map(picture, context);
        return picture;
    }
    const std::string after = compared_after(*effects);
    const std::string what = effects->against.empty() ? effects->token : logit_label(*effects);
    const auto heading = [&](const std::string& title, const std::string& formula) {
        draw_view_heading(picture, context, mean_title(title, effects->mean.get()), formula);
    };
    if (shows_mean_ablation(context))
        heading(tr("effects_page.lost_each_heads_mean", "Fall of the logit under mean ablation"),
                tr("effects_page.logit_after_run_less",
                   "logit of {} after {}: this run minus a run with the mean output of one head", what,
                   after));
    else if (shows_losses(context))
        heading(tr("effects_page.lost_without_each_head", "Fall of the logit under zero ablation"),
                tr("effects_page.logit_after_run_less_2",
                   "logit of {} after {}: this run minus a run without one head", what, after));
    else
        heading(tr("effects_page.heads_prediction", "Logit attribution of the heads"),
                effects->against.empty()
                    ? tr("effects_page.out_l_h_u",
                         "contributions[l][h] · (W_U[{}] − mean W_U), after {}, direct path, frozen norm",
                         effects->token, after)
                    : tr("effects_page.out_l_h_u_2",
                         "contributions[l][h] · (W_U[{}] − W_U[{}]), after {}, direct path, frozen norm",
                         effects->token, effects->against, after));
    draw_question_fields(picture, context);
    const Table table = table_of(context);
    draw_table(picture, context, table);
    float y = draw_sum(picture, context, table);
    if (effects->mean == nullptr && !shows_losses(context))
        y = draw_source_contributions(picture, context, limit_of(context), y);
    if (effects->mean == nullptr)
        y = draw_lens(picture, context, y);
    picture.scene.height = std::max(context.height, y + 24);
    return picture;
}

} // namespace headscope::app
