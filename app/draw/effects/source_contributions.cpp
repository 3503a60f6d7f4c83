#include "app/draw/effects/effects.h"

#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headscope::app {

namespace {

using analysis::LogitPart;
using figure::Align;
using figure::Font;

constexpr std::int64_t most_source_tokens = 160; ///< tokens shown at once
constexpr float pager_height = 38;

/// The typed token index, an integer from 0 to count - 1. Throws Error(input) for other texts.
std::int64_t parse_token(const std::string& text, std::int64_t count) {
    std::int64_t token = -1;
    const char* const end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, token);
        read.ec != std::errc() || read.ptr != end || token < 0 || token >= count)
        fail_input(
            tr("brought_tokens.type_number_token_0", "Type the number of a token, 0 to {}.", count - 1));
    return token;
}

/// Shows which tokens of a long text are visible, with links to the others.
void draw_pager(Picture& picture, const DrawContext& context, std::int64_t first, std::int64_t count,
                float y) {
    const std::int64_t last = std::min(first + most_source_tokens, count);
    const float baseline = figure::baseline_for(y + 14, 12.5F);
    float x = canvas_pad;
    if (!context.controls) {
        draw_text(
            picture, context, x, baseline,
            tr("common.tokens", "Tokens {} to {} of {}.", grouped(first), grouped(last - 1), grouped(count)),
            Font::ui, 12.5F, context.theme.muted);
        return;
    }
    const auto step = [&](const std::string& label, std::int64_t to, bool possible, const std::string& tip) {
        if (possible)
            x += draw_text_button(picture, context, x, y + 1, label, false,
                                  ShowSourceTokens{std::max<std::int64_t>(to, 0)}, tip) +
                 8;
    };
    x += 8 + draw_text(picture, context, x, baseline, tr("brought_tokens.tokens", "Tokens from"), Font::ui,
                       12.5F, context.theme.text);
    constexpr float field = 76;
    picture.fields.push_back(
        {.area = {x, y, field, 28},
         .label = "tokens from",
         .text = std::to_string(first),
         .action = [count](const std::string& typed) { return ShowSourceTokens{parse_token(typed, count)}; },
         .tip =
             tr("brought_tokens.number_first_token_shown", "The number of the first token that is shown")});
    x += field + 8;
    x += 14 + draw_text(picture, context, x, baseline,
                        tr("common.to_of", "to {} of {}", grouped(last - 1), grouped(count)), Font::ui, 12.5F,
                        context.theme.text);
    step(tr("brought_tokens.earlier", "◀ Earlier"), first - most_source_tokens, first > 0,
         tr("brought_tokens.tokens_before", "Earlier tokens"));
    step(tr("brought_tokens.later", "Later ▶"), last, last < count,
         tr("brought_tokens.tokens_behind", "Later tokens"));
}

} // namespace

float draw_source_contributions(Picture& picture, const DrawContext& context, double of_map, float y) {
    const Theme& theme = context.theme;
    const Effects& effects = *context.shown.effects;
    const std::int64_t l = context.view.attention.layer, h = context.view.head;
    if (!effects.has(l, h) || effects.part(l, h).writer.kind != analysis::Writer::Kind::head)
        return y;
    const LogitPart& part = effects.part(l, h);
    draw_hairline(picture, context, canvas_pad, y, context.width - 2 * canvas_pad);
    const float taken =
        draw_text(picture, context, canvas_pad, y + 30,
                  tr("brought_tokens.brings", "Contribution of {}", component_name(part.writer)),
                  Font::ui_semibold, 17, theme.ink);
    // Uses the colors of the map above, unless contributions that cancel out exceed its range.
    double limit = of_map;
    for (const float one : part.sources)
        limit = std::max(limit, static_cast<double>(std::abs(one)));
    draw_text(picture, context, canvas_pad + taken + 14, y + 30,
              tr("brought_tokens.token_reads", "by the token that it reads from") + ", " +
                  (limit == of_map ? tr("brought_tokens.colours_map_above", "in the colors of the map above")
                                   : tr("brought_tokens.darkest", "color scale to ±{}", number(limit, 2))),
              Font::ui, 12.5F, theme.muted);
    constexpr float line = 44, gap = 4;
    float x = canvas_pad, top = y + 46;
    const std::int64_t count = std::ssize(part.sources),
                       latest = std::max<std::int64_t>(count - most_source_tokens, 0);
    const std::int64_t first = std::min(context.view.attention.first_source_token.value_or(latest), latest);
    if (count > most_source_tokens) {
        draw_pager(picture, context, first, count, top);
        top += pager_height;
    }
    const auto end = static_cast<std::size_t>(std::min(first + most_source_tokens, count));
    for (auto j = static_cast<std::size_t>(first); j < end; ++j) {
        const auto value = static_cast<double>(part.sources[j]);
        const std::string token = shortened(effects.keys[j], 14);
        const std::string words = number(value, 2);
        const float width =
            std::max(context.measure(token, Font::ui, 13), context.measure(words, Font::mono, 12)) + 14;
        if (x + width > context.width - canvas_pad) {
            x = canvas_pad;
            top += line;
        }
        const figure::Color fill = signed_colour(theme, value, limit);
        const figure::Rect area{x, top, width, 22};
        picture.scene.add(figure::RectItem{.area = area, .fill = fill, .radius = 4});
        draw_text(picture, context, x + width / 2, figure::baseline_for(top + 11, 13), token, Font::ui, 13,
                  text_on(fill), Align::center);
        draw_text(picture, context, x + width / 2, top + 35, words, Font::mono, 12, theme.muted,
                  Align::center);
        picture.tips.push_back(
            {{x, top, width, line - 4},
             tr("brought_tokens.brings_2", "{} contributes {}", effects.keys[j], signed_number(value, 3))});
        x += width + gap;
    }
    return top + line + 12;
}

} // namespace headscope::app
