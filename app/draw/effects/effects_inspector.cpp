#include "app/draw/effects/effects.h"

#include "app/draw/effects/mean_parts.h"
#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

using analysis::LogitPart;
using figure::Align;
using figure::Font;

constexpr std::size_t listed_sources = 5, listed_components = 12;
constexpr float number_room = 62;

void component_row(Sheet& sheet, const std::string& name, double value, double limit, int decimals,
                   bool strong = false) {
    const Theme& theme = sheet.context.theme;
    constexpr float bar = 76;
    const float end = sheet.right - number_room;
    sheet.put(sheet.left, name, end - bar - 8 - sheet.left, strong ? Font::ui_semibold : Font::ui,
              Sheet::text_size, strong ? theme.ink : theme.text);
    draw_signed_bar(sheet.picture, theme, {end - bar, sheet.y, bar, Sheet::row_height}, value, limit);
    sheet.put(sheet.right, signed_number(value, decimals), number_room, Font::mono, Sheet::text_size,
              strong ? theme.ink : theme.text, Align::right);
    sheet.y += Sheet::row_height;
}

/// Adds the sum of the rows. It has no bar, which leaves room for its name.
void total_row(Sheet& sheet, const std::string& name, double value, int decimals) {
    const Theme& theme = sheet.context.theme;
    sheet.put(sheet.left, name, sheet.right - number_room - 8 - sheet.left, Font::ui_semibold,
              Sheet::text_size, theme.ink);
    sheet.put(sheet.right, signed_number(value, decimals), number_room, Font::mono, Sheet::text_size,
              theme.ink, Align::right);
    sheet.y += Sheet::row_height;
}

/// Lists the source tokens of the open head with the contribution per unit of attention weight.
void add_sources(Sheet& sheet, const LogitPart& part) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const Effects& effects = *context.shown.effects;
    sheet.section(tr("effects_inspector.comes", "Contributions by token"),
                  tr("effects_inspector.weight_effect", "weight × effect"));
    std::vector<std::size_t> order(part.sources.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t j) { return std::abs(part.sources[j]); });
    const std::size_t count = std::min(order.size(), listed_sources);
    const Tensor* const weights = context.shown.tensor(TensorId::weights);
    const std::int64_t position = effects.question.position, h = part.writer.head;
    // Transformed weights (without the first token, for example) do not match the head's contribution.
    const bool known = weights != nullptr && !context.shown.document->shows_weights() &&
                       weights->shape()[1] > h && weights->shape()[2] > position &&
                       weights->shape()[3] == std::ssize(part.sources);
    std::vector<double> terms;
    for (std::size_t n = 0; n < count; ++n)
        terms.push_back(static_cast<double>(part.sources[order[n]]));
    const double rest = part.value - std::accumulate(terms.begin(), terms.end(), 0.0);
    terms.push_back(rest);
    const int decimals = sum_format(terms, part.value).decimals;
    const auto line = [&](const std::string& name, const std::string& product, double value, bool strong) {
        const float numbers = sheet.right - 62;
        sheet.put(sheet.left, name, 96, strong ? Font::ui_semibold : Font::ui, Sheet::text_size,
                  strong ? theme.ink : theme.text);
        sheet.put(numbers - 6, product, numbers - 104 - sheet.left, Font::mono, Sheet::text_size, theme.muted,
                  Align::right);
        sheet.put(sheet.right, signed_number(value, decimals), 62, Font::mono, Sheet::text_size,
                  strong ? theme.ink : theme.text, Align::right);
        sheet.y += Sheet::row_height;
    };
    for (std::size_t n = 0; n < count; ++n) {
        const auto j = static_cast<std::int64_t>(order[n]);
        const double weight = known ? static_cast<double>(weights->at(0, h, position, j)) : 0.0;
        line(word_label(effects.keys, j),
             weight == 0.0 ? ""
                           : number(weight, 2) + " × " +
                                 number(static_cast<double>(part.sources[order[n]]) / weight, 2),
             static_cast<double>(part.sources[order[n]]), n == 0);
    }
    if (order.size() > count)
        line(tr_n("effects_inspector.more", "{} more", "{} more",
                  std::ssize(order) - static_cast<std::int64_t>(count), order.size() - count),
             "", rest, false);
    sheet.rule(62);
    line(tr("common.sum", "sum"), "", part.value, true);
    sheet.paragraph(tr("effects_inspector.effect_one_unit_weight",
                       "Effect: what a weight of 1 on that token would contribute, by its value and W_O."),
                    theme.muted);
}

void add_largest(Sheet& sheet) {
    const Effects& effects = *sheet.context.shown.effects;
    const std::vector<LogitPart>& parts = effects.attribution.parts;
    sheet.section(tr("effects_inspector.largest_all_writers", "Largest components"),
                  tr("common.logits", "logits"));
    const std::size_t count = std::min(parts.size(), listed_components);
    double rest = effects.attribution.logit;
    std::vector<double> terms;
    for (std::size_t n = 0; n < count; ++n) {
        terms.push_back(parts[effects.largest[n]].value);
        rest -= terms.back();
    }
    terms.push_back(rest);
    const int decimals = sum_format(terms, effects.attribution.logit).decimals;
    const double limit = std::max(std::abs(terms.front()), 1e-9);
    for (std::size_t n = 0; n < count; ++n) {
        const LogitPart& part = parts[effects.largest[n]];
        const bool open = part.writer.head >= 0 && part.writer.stack == effects.stack &&
                          part.writer.layer == sheet.context.view.attention.layer &&
                          part.writer.head == sheet.context.view.head;
        if (part.writer.head >= 0 && part.writer.stack == effects.stack)
            sheet.row_spot("largest " + std::to_string(n), OpenHead{part.writer.layer, part.writer.head},
                           tr("common.look_head", "Select this head"));
        component_row(sheet, component_name(part.writer), part.value, limit, decimals, open);
    }
    if (const std::size_t others = parts.size() - count; others > 0)
        component_row(sheet,
                      tr_n("common.more_together", "{} more, together", "{} more, together",
                           static_cast<std::int64_t>(others), others),
                      rest, limit, decimals);
    sheet.rule(62);
    total_row(sheet, tr("effects_inspector.logit", "logit of {}", logit_label(effects)),
              effects.attribution.logit, decimals);
    if (effects.attribution.capped != effects.attribution.logit)
        sheet.row(tr("common.after_soft_cap", "after the soft cap"),
                  signed_number(effects.attribution.capped, decimals));
}

/// The sweep's result for ablating this head; null if it is not available yet.
const EffectsSweep::Cell* measured_without(const DrawContext& context, const LogitPart& part) {
    const EffectsSweep* const sweep = context.shown.sweep.get();
    if (sweep == nullptr || part.writer.layer >= std::ssize(sweep->heads))
        return nullptr;
    const auto& cell =
        sweep->heads[static_cast<std::size_t>(part.writer.layer)][static_cast<std::size_t>(part.writer.head)];
    return cell ? &*cell : nullptr;
}

/// Shows the effect of zero or mean ablation of the open head, as far as it was measured.
void add_without(Sheet& sheet, const LogitPart& part) {
    const DrawContext& context = sheet.context;
    const Effects& effects = *context.shown.effects;
    const EffectsSweep* const sweep = context.shown.sweep.get();
    const EffectsSweep::Cell* const cell = measured_without(context, part);
    if (cell == nullptr)
        return;
    const std::string what = effects.against.empty()
                                 ? tr("common.logit", "logit")
                                 : tr("effects_inspector.logit_difference", "logit difference");
    if (shows_mean_ablation(context)) {
        sheet.section(tr("effects_inspector.gives_mean_output", "Mean ablation"), what);
        sheet.row(tr("effects_inspector.own_output", "with its own output"), signed_number(sweep->before, 2));
        sheet.row(tr("effects_inspector.mean_measured", "with its mean output, measured"),
                  signed_number(sweep->before - cell->loss, 2), true);
        sheet.row(tr("effects_inspector.kl_prediction", "KL divergence"),
                  tr("common.nats", "{} nats", number(cell->divergence, 4)));
        return;
    }
    sheet.section(tr("effects_inspector.switched", "Zero ablation"), what);
    sheet.row(tr("effects_inspector.with", "with {}", component_name(part.writer)),
              signed_number(sweep->before, 2));
    sheet.row(tr("effects_inspector.without_direct", "without it, direct"),
              signed_number(sweep->before - part.value, 2));
    sheet.row(tr("effects_inspector.without_measured", "without it, measured"),
              signed_number(sweep->before - cell->loss, 2), true);
    sheet.row(tr("effects_inspector.kl_prediction", "KL divergence"),
              tr("common.nats", "{} nats", number(cell->divergence, 4)));
    const double others = part.value - cell->loss;
    sheet.paragraph(tr("effects_inspector.direct_measured_differ",
                       "Direct and measured differ by {}: without the head, later layers read a different "
                       "residual stream, and the final norm has another scale.",
                       number(std::abs(others), 2)),
                    context.theme.muted);
}

void add_losses(Sheet& sheet) {
    const EffectsSweep* const sweep = sheet.context.shown.sweep.get();
    if (sweep == nullptr)
        return;
    struct Loss {
        std::int64_t layer, head;
        double lost;
    };
    std::vector<Loss> losses;
    for (std::size_t l = 0; l < sweep->heads.size(); ++l)
        for (std::size_t h = 0; h < sweep->heads[l].size(); ++h)
            if (const auto& cell = sweep->heads[l][h])
                losses.push_back({static_cast<std::int64_t>(l), static_cast<std::int64_t>(h), cell->loss});
    std::ranges::stable_sort(losses, std::ranges::greater{},
                             [](const Loss& loss) { return std::abs(loss.lost); });
    losses.resize(std::min(losses.size(), listed_components));
    sheet.section(tr("effects_inspector.largest_losses", "Largest falls and rises"),
                  tr("common.logits", "logits"));
    for (std::size_t n = 0; n < losses.size(); ++n) {
        const Loss& loss = losses[n];
        sheet.row_spot("largest " + std::to_string(n), OpenHead{loss.layer, loss.head},
                       tr("common.look_head", "Select this head"));
        component_row(sheet, component_name(sheet.context.shown.effects->part(loss.layer, loss.head).writer),
                      loss.lost, std::max(sweep->max_abs, 1e-9), 2,
                      loss.layer == sheet.context.view.attention.layer &&
                          loss.head == sheet.context.view.head);
    }
    if (sweep->done < sweep->count)
        sheet.paragraph(tr_n("effects_inspector.head", "Measured: {} of {} head.",
                             "Measured: {} of {} heads.", sweep->count, sweep->done, grouped(sweep->count)),
                        sheet.context.theme.muted);
}

} // namespace

Picture draw_effects_inspector(const DrawContext& context) {
    Sheet sheet(context);
    sheet.link_terms();
    const Effects* const effects = context.shown.effects.get();
    const Theme& theme = context.theme;
    sheet.y = 18;
    if (effects == nullptr) {
        sheet.paragraph(tr("effects_inspector.parts_prediction", "The logit attribution is being computed."),
                        theme.muted);
        return sheet.finish();
    }
    const std::int64_t l = context.view.attention.layer, h = context.view.head;
    if (effects->has(l, h) && effects->part(l, h).writer.kind == analysis::Writer::Kind::head) {
        const LogitPart& part = effects->part(l, h);
        // Show the same number as the map on screen.
        const EffectsSweep::Cell* const lost =
            shows_losses(context) ? measured_without(context, part) : nullptr;
        sheet.headline(effect_address(*effects, lost != nullptr, l, h),
                       signed_number(lost != nullptr ? lost->loss : part.value, 2),
                       lost == nullptr ? tr("effects_inspector.logits", "logits towards {}", effects->token)
                       : shows_mean_ablation(context)
                           ? tr("common.falls_heads_mean", "fall under mean ablation")
                           : tr("common.falls_without_head", "fall under zero ablation"));
        if (context.controls) {
            const float half = (sheet.width() - 10) / 2;
            const bool off = context.shown.problem().gain(h) == 0.0F;
            const std::string name = component_name(part.writer);
            draw_button(sheet.picture, context, {sheet.left, sheet.y, half, 32},
                        off ? tr("common.switch_on", "Restore") : tr("common.switch", "Ablate"),
                        SetGain{h, off ? 1.0F : 0.0F}, false,
                        tr("common.sets_gain_everything_after",
                           "Sets the head gain of {} to {}; all later numbers follow", name, off ? 1 : 0));
            draw_button(sheet.picture, context, {sheet.left + half + 10, sheet.y, half, 32},
                        tr("common.open_head", "Open head"), ShowScreen{Screen::stages}, false,
                        tr("common.weights_stages", "Its weights and stages"));
            sheet.y += 44;
        }
        if (effects->mean != nullptr)
            sheet.paragraph(head_spread(context, l, h), theme.text);
        else if (!shows_losses(context))
            add_sources(sheet, part);
        add_without(sheet, part);
    }
    if (shows_losses(context))
        add_losses(sheet);
    else
        add_largest(sheet);
    return sheet.finish();
}

} // namespace headscope::app
