#include "app/draw/flow/model_parts.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/flash.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace headscope::app {

namespace {

using checkpoint::TokenChance;
using figure::Align;
using figure::Color;
using figure::Font;
using figure::Rect;

constexpr float list_row = 25;

/// The words of the prediction and the fraction of all other words.
struct NextWords {
    std::vector<TokenChance> listed;
    float others = 0;
};

NextWords next_words(const CausesView& causes, std::size_t most) {
    NextWords out;
    out.listed = causes.off ? causes.off->now.likeliest : causes.causes.likeliest;
    out.listed.resize(std::min(out.listed.size(), most));
    float sum = 0;
    for (const TokenChance& chance : out.listed)
        sum += chance.probability;
    out.others = std::max(1 - sum, 0.0F);
    return out;
}

/// The probabilities before the last step, or with the ablated head: what the current ones are compared with.
struct FormerWords {
    const std::vector<TokenChance>* likeliest = nullptr; ///< null: there is nothing to compare with
    float strength = 1;                                  ///< fades to 0

    std::optional<float> chance(std::int64_t id) const {
        if (likeliest == nullptr)
            return std::nullopt;
        const auto word = std::ranges::find(*likeliest, id, &TokenChance::id);
        return word == likeliest->end() ? std::nullopt : std::optional(word->probability);
    }
};

/// Returns true if the positions in focus are the same, or both are the last one.
bool asks_alike(const Shown& before, const Shown& now) {
    const std::int64_t asked = before.causes->causes.question.position,
                       asks = now.causes->causes.question.position;
    return asked == asks ||
           (asked + 1 == before.document->part()->inputs->T && asks + 1 == now.document->part()->inputs->T);
}

FormerWords former_words(const ModelFlow& flow) {
    const CausesView& causes = *flow.causes();
    if (causes.off)
        return {&causes.causes.likeliest};
    const Earlier* const earlier = flow.context.earlier;
    if (earlier == nullptr || earlier->before.causes == nullptr || earlier->before.causes.get() == &causes ||
        !earlier->before.document->is_checkpoint() ||
        earlier->before.document->part()->model != flow.context.shown.document->part()->model ||
        !asks_alike(earlier->before, flow.context.shown))
        return {};
    const CausesView& former = *earlier->before.causes;
    return {former.off ? &former.off->now.likeliest : &former.causes.likeliest, earlier->strength};
}

Color faded(Color color, const FormerWords& former) {
    return figure::with_alpha(color, static_cast<std::uint32_t>(std::lround(255 * former.strength)));
}

/// The largest size up to `size` at which a word fits.
float fitting_size(const DrawContext& context, const std::string& word, float size, float width) {
    const float wide = context.measure(word, Font::ui_semibold, size);
    return wide <= width ? size : std::max(size * width / wide, 16.0F);
}

std::string title_of(const ModelFlow& flow) {
    const checkpoint::TextModel& model = *flow.context.shown.document->part()->model;
    return model.masked() ? tr("model_next_word.at_position", "At this position")
                          : tr("model_next_word.next_word", "Next word");
}

std::string subtitle_of(const ModelFlow& flow) {
    const checkpoint::TextModel& model = *flow.context.shown.document->part()->model;
    const std::string word = shortened(flow.word(flow.position), 16);
    return model.masked() ? tr("model_next_word.in_place_of", "in place of “{}”, temperature {}", word, 1)
                          : tr("model_next_word.after", "after “{}”, temperature {}", word, 1);
}

/// The probabilities as one column, with a band from the residual stream to each segment. Returns the center
/// of each segment.
std::vector<float> draw_column(Picture& picture, const ModelFlow& flow, const NextWords& words) {
    const ModelFlowLayout& layout = flow.layout;
    const Theme& theme = flow.theme();
    const Rect& bar = layout.bar;
    const float total = bar.h, from_x = layout.final_norm.right(), from_y = layout.row(flow.position);
    constexpr float from_height = 24;
    float y = bar.y, source = from_y - from_height / 2;
    std::vector<float> centers;
    std::vector<float> shares;
    for (const TokenChance& word : words.listed)
        shares.push_back(word.probability);
    shares.push_back(words.others);
    for (std::size_t n = 0; n < shares.size(); ++n) {
        const float height = std::max(shares[n] * total, 1.0F), part = shares[n] * from_height;
        const Color color = n == 0 ? theme.ink : n + 1 < shares.size() ? theme.muted : theme.line2;
        const Rect segment{bar.x, y, bar.w, std::max(height - 1, 1.0F)};
        // A band of changing width, from its part of the stream to its segment.
        figure::BandItem band;
        constexpr int count = 28;
        const std::vector<figure::Point> top = flow_curve({from_x, source}, {bar.x, segment.y}, count),
                                         low = flow_curve({from_x, source + std::max(part, 0.4F)},
                                                          {bar.x, segment.bottom()}, count);
        const int shown = std::clamp(
            static_cast<int>(std::lround(flow.moment.next_word * static_cast<float>(count))), 0, count);
        for (int p = 0; p < shown; ++p) {
            band.edge.push_back(top[static_cast<std::size_t>(p)]);
            band.other_edge.push_back(low[static_cast<std::size_t>(p)]);
            band.colors.push_back(figure::with_alpha(color, n == 0 ? 225 : 110));
        }
        if (shown >= 2)
            picture.scene.add(std::move(band));
        if (flow.moment.next_word >= 1)
            picture.scene.add(figure::RectItem{.area = segment, .fill = color});
        centers.push_back(segment.y + segment.h / 2);
        y += height;
        source += part;
    }
    return centers;
}

/// The words after the first, with their probabilities. `top`: of the first row.
void draw_list(Picture& picture, const ModelFlow& flow, const NextWords& words, const FormerWords& former,
               const std::vector<float>& centers, float top) {
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    const Rect& hero = flow.layout.hero;
    const float left = flow.layout.bar.right() + 38, right = hero.right();
    const float name = std::min((right - left) * 0.34F, 96.0F), value = 58;
    const float largest =
        words.listed.size() > 1 ? std::max(words.listed[1].probability, words.others) : words.others;
    const std::int64_t vocab = context.shown.document->part()->config().vocab;
    for (std::size_t n = 1; n <= words.listed.size(); ++n) {
        const bool other = n == words.listed.size();
        const float center = top + list_row * (static_cast<float>(n - 1) + 0.5F);
        const float chance = other ? words.others : words.listed[n].probability;
        const std::string label =
            other ? tr("model_next_word.more", "{} more", grouped(vocab - std::ssize(words.listed)))
                  : flow.causes()->word(words.listed[n].id);
        const Font font = other ? Font::ui : Font::ui_medium;
        const float size = other ? 12.5F : 13.5F;
        draw_text(picture, context, left, figure::baseline_for(center, 13.5F),
                  fitted(context, label, font, size, name - 4), font, size, other ? theme.muted : theme.ink);
        const Rect track{left + name, center - 5, right - value - left - name, 10};
        if (track.w > 20) {
            picture.scene.add(figure::RectItem{.area = track, .fill = theme.cell});
            picture.scene.add(figure::RectItem{
                .area = {track.x, track.y,
                         std::max(track.w * std::min(chance / std::max(largest, 0.2F), 1.0F), 1.0F), track.h},
                .fill = other ? theme.line2 : theme.muted});
            const auto before = other ? std::nullopt : former.chance(words.listed[n].id);
            if (before) // a strip at the foot of the bar, as long as the bar was
                picture.scene.add(figure::RectItem{
                    .area = {track.x, track.bottom() + 1,
                             std::max(track.w * std::min(*before / std::max(largest, 0.2F), 1.0F), 1.0F), 3},
                    .fill = faded(theme.ink, former)});
        }
        draw_text(picture, context, right, figure::baseline_for(center, 12.5F),
                  percent_text(static_cast<double>(chance)), Font::mono, 12.5F, theme.text, Align::right);
        const float x = flow.layout.bar.right() + 2;
        picture.scene.add(figure::CurveItem{.from = {x, centers[n]},
                                            .control_from = {x + 18, centers[n]},
                                            .control_to = {left - 24, center},
                                            .to = {left - 6, center},
                                            .color = theme.line2,
                                            .width = 1});
    }
}

/// Draws the words the model would predict from the layers that have played so far.
void draw_guess_so_far(Picture& picture, const ModelFlow& flow) {
    const FlowGuesses* const guesses = flow.guesses();
    if (guesses == nullptr || guesses->position != flow.position)
        return;
    std::size_t level = 0;
    for (std::size_t n = 0; n < flow.slabs.size(); ++n)
        if (flow.moment.reached(flow.layout.after(n)))
            level = static_cast<std::size_t>(flow.slabs[n].last) + 1;
    if (level >= guesses->layers.size())
        return;
    const DrawContext& context = flow.context;
    const FlowGuesses::Guess& guess = guesses->layers[level].front();
    const Rect& hero = flow.layout.hero;
    const float x = flow.layout.bar.right() + 24, width = hero.right() - x,
                y = flow.layout.bar.y + flow.layout.bar.h * 0.3F;
    const float size = fitting_size(context, guess.word, hero.w >= 300 ? 40 : 26, width);
    draw_text(picture, context, x + 2, y,
              fitted(context, tr("model_next_word.so_far", "best guess so far"), Font::ui, 13.5F, width),
              Font::ui, 13.5F, context.theme.muted);
    draw_text(picture, context, x, y + size + 2, fitted(context, guess.word, Font::ui_semibold, size, width),
              Font::ui_semibold, size, context.theme.muted);
    draw_text(picture, context, x + 2, y + size + 32, percent_text(static_cast<double>(guess.probability)),
              Font::mono, 18, context.theme.muted);
}

} // namespace

void draw_next_word(Picture& picture, const ModelFlow& flow) {
    const Rect& hero = flow.layout.hero;
    const CausesView* const causes = flow.causes();
    if (hero.w <= 0)
        return;
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    draw_text(picture, context, hero.x, hero.y + 18, title_of(flow), Font::ui_semibold, 19, theme.ink);
    draw_text(picture, context, hero.x, hero.y + 40, fitted(context, subtitle_of(flow), Font::ui, 13, hero.w),
              Font::ui, 13, theme.muted);
    if (causes == nullptr || causes->causes.question.position != flow.position) {
        draw_text(picture, context, hero.x, hero.y + 80, tr("model_next_word.computing", "computing …"),
                  Font::ui, 13, theme.muted);
        return;
    }
    if (flow.moment.next_word < 1)
        draw_guess_so_far(picture, flow);
    if (flow.moment.next_word <= 0)
        return;
    const float list_room = flow.layout.lists ? 150.0F : 0;
    NextWords words = next_words(*causes, flow.layout.lists ? 6 : 3);
    // In a low window the list is shorter.
    while (flow.layout.lists && words.listed.size() > 2 &&
           list_row * static_cast<float>(words.listed.size()) > flow.layout.bar.h - list_room)
        words = next_words(*causes, words.listed.size() - 1);
    const std::vector<float> centers = draw_column(picture, flow, words);
    if (flow.moment.next_word < 1)
        return;
    const FormerWords former = former_words(flow);
    const float x = flow.layout.bar.right() + 24, width = hero.right() - x;
    const TokenChance& first = words.listed.front();
    const std::string& word = causes->word(first.id);
    const std::optional<float> first_before = former.chance(first.id);
    if (first_before) // the frame of the former segment
        picture.scene.add(
            figure::RectItem{.area = {flow.layout.bar.x - 5, flow.layout.bar.y - 2, flow.layout.bar.w + 10,
                                      std::max(*first_before * flow.layout.bar.h, 1.0F) + 4},
                             .stroke = faded(theme.ink, former),
                             .stroke_width = 1.5F,
                             .radius = 3});
    const float size = fitting_size(context, word, hero.w >= 300 ? 46 : 30, width);
    const float list_height = flow.layout.lists ? list_row * static_cast<float>(words.listed.size()) : 0;
    const float block = size + 34 + (causes->off ? 66.0F : 0);
    const float low = flow.layout.bar.bottom() - list_height - block - 18;
    const float segment = flow.layout.bar.y + first.probability * flow.layout.bar.h;
    float y = std::clamp((flow.layout.bar.y + segment - block) / 2, flow.layout.bar.y,
                         std::max(low, flow.layout.bar.y));
    if (causes->off) {
        draw_text(picture, context, x + 2, y + 13,
                  tr("model_next_word.was", "was {}", causes->word(causes->causes.likeliest.front().id)),
                  Font::ui, 14, theme.muted);
        y += 20;
    }
    const std::string shown = fitted(context, word, Font::ui_semibold, size, width);
    draw_text(picture, context, x, y + size * 0.86F, shown, Font::ui_semibold, size, theme.ink);
    y += size + 26;
    const float wide =
        draw_text(picture, context, x + 2, y, percent_text(static_cast<double>(first.probability)),
                  Font::mono, 22, theme.ink);
    if (first_before && !causes->off)
        draw_text(
            picture, context, x + wide + 14, y,
            fitted(context,
                   tr("model_next_word.was", "was {}", percent_text(static_cast<double>(*first_before))),
                   Font::ui, 14, width - wide - 14),
            Font::ui, 14, faded(theme.muted, former));
    if (causes->off) {
        y += 14;
        draw_hairline(picture, context, x, y, width);
        const auto& before = causes->causes.likeliest;
        draw_text(
            picture, context, x + 2, y + 22,
            fitted(context,
                   tr("model_next_word.before", "before: {} {}, {} {}", causes->word(before[0].id),
                      percent_text(static_cast<double>(before[0].probability)), causes->word(before[1].id),
                      percent_text(static_cast<double>(before[1].probability))),
                   Font::ui, 13.5F, width),
            Font::ui, 13.5F, theme.text);
        y += 24;
    }
    if (!flow.layout.lists)
        return;
    const float top =
        std::clamp(segment + 2, y + 16, std::max(flow.layout.bar.bottom() - list_height + 14, y + 16));
    draw_list(picture, flow, words, former, centers, top);
}

} // namespace headscope::app
