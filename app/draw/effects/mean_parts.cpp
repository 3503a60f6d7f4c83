#include "app/draw/effects/mean_parts.h"

#include "app/draw/effects/effects.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/prompts/mean_text.h"
#include "core/base/message.h"

namespace headscope::app {

namespace {

std::string spread_of_part(const Effects& effects, const analysis::LogitPart& part) {
    return spread_text(*effects.mean, static_cast<std::size_t>(&part - effects.attribution.parts.data()));
}

} // namespace

std::string mean_title(const std::string& title, const PromptMean* mean) {
    // Translators: a title, then "mean of 20 prompts"
    return mean == nullptr ? title : tr("mean_parts.title", "{}, {}", title, mean_caption(*mean));
}

std::string on_new_line(const std::string& text) {
    return text.empty() ? "" : "\n" + text;
}

std::string head_spread(const DrawContext& context, std::int64_t l, std::int64_t h) {
    const Effects& effects = *context.shown.effects;
    if (!shows_losses(context))
        return effects.mean == nullptr ? "" : spread_of_part(effects, effects.part(l, h));
    const EffectsSweep* const sweep = context.shown.sweep.get();
    if (sweep == nullptr || sweep->mean == nullptr)
        return {};
    const std::int64_t head = l * std::ssize(sweep->heads.front()) + h;
    return spread_text(*sweep->mean, 2 * static_cast<std::size_t>(head));
}

std::string mlp_spread(const DrawContext& context, std::int64_t l) {
    const Effects& effects = *context.shown.effects;
    if (effects.mean != nullptr)
        for (const analysis::LogitPart& part : effects.attribution.parts)
            if (part.writer.kind == analysis::Writer::Kind::mlp && part.writer.layer == l)
                return spread_of_part(effects, part);
    return {};
}

std::string patch_spread(const PatchingMap& map, std::size_t row, std::size_t column) {
    return map.mean == nullptr ? "" : spread_text(*map.mean, row * map.cells.front().size() + column);
}

std::string compared_after(const Effects& effects) {
    return effects.mean == nullptr ? word_label(effects.queries, effects.question.position)
                                   : tr("mean_parts.last_token", "the last token");
}

std::string effect_address(const Effects& effects, bool loss, std::int64_t l, std::int64_t h) {
    const std::string head =
        (loss ? "lost[" : "effect[") + std::to_string(l) + "][" + std::to_string(h) + "]";
    return effects.mean == nullptr ? head + "[" + word_label(effects.queries, effects.question.position) + "]"
                                   : "mean " + head;
}

float draw_mean_of_pairs(Picture& picture, const DrawContext& context, float y) {
    const PatchingPair& pair = *context.shown.patching->pair;
    const auto row = [&](const std::string& name, double value, std::size_t cell) {
        const PromptMean& mean = *context.shown.patching->map->mean;
        const std::string words = tr("mean_parts.difference", "{}: {} − {} is {} on average", name,
                                     pair.answer, pair.against, signed_number(value, 2));
        draw_text(picture, context, canvas_pad, y + 16, words, figure::Font::ui, 13, context.theme.text);
        picture.tips.push_back(
            {{canvas_pad, y, context.width - 2 * canvas_pad, 22}, spread_text(mean, cell)});
        y += 24;
    };
    const std::size_t cells = context.shown.patching->map->mean->cells.size();
    row(tr("common.clean", "clean"), pair.clean_difference, cells - 2);
    row(tr("common.corrupted", "corrupted"), pair.corrupted_difference, cells - 1);
    if (const std::int64_t similar = context.shown.patching->map->similar_pairs; similar > 0)
        y = draw_paragraph(
                picture, context, canvas_pad, y + 16, context.width - 2 * canvas_pad,
                tr_n("mean_parts.similar",
                     "In {} pair the logit differences are less than {} apart. Its fractions are "
                     "not meaningful and distort the mean.",
                     "In {} pairs the logit differences are less than {} apart. Their fractions are "
                     "not meaningful and distort the mean.",
                     similar, similar, number(analysis::least_difference, 2)),
                figure::Font::ui, 13, 18, context.theme.bad) -
            12;
    return y + 12;
}

} // namespace headscope::app
