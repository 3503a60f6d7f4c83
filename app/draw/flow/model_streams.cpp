#include "app/draw/flow/model_parts.h"
#include "app/draw/flow/word_field.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/edit_marks.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Color;
using figure::Font;
using figure::Point;
using figure::Rect;

/// Every n-th word is written, so that words do not overlap.
std::int64_t word_step(float pitch) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(15.0F / std::max(pitch, 0.1F))));
}

/// The token that the selected head attends to most; -1 while it is not known.
std::int64_t attended_token(const ModelFlow& flow) {
    const std::vector<float> row = flow.row_of_head(flow.position);
    return row.empty() ? -1 : std::ranges::max_element(row) - row.begin();
}

} // namespace

bool ModelFlow::is_off(std::int64_t l, std::int64_t h) const {
    const HeadEdits* const edits = head_edits(context, l, h);
    return edits != nullptr && edits->ablated();
}

std::vector<float> ModelFlow::row_of_head(std::int64_t query) const {
    const FlowLayer* const known = layer();
    if (known == nullptr || known->layer != open || known->weights == nullptr ||
        head >= known->weights->shape()[1] || query >= known->weights->shape()[2])
        return {};
    const Tensor& weights = *known->weights;
    const auto row = weights.values().subspan(static_cast<std::size_t>(weights.offset(0, head, query, 0)),
                                              static_cast<std::size_t>(weights.shape()[3]));
    return {row.begin(), row.end()};
}

std::vector<Point> flow_curve(Point from, Point to, int count) {
    std::vector<Point> points;
    const float reach = (to.x - from.x) * 0.5F;
    for (int n = 0; n < count; ++n) {
        const float t = static_cast<float>(n) / static_cast<float>(count - 1), s = 1 - t;
        const float a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
        points.push_back({a * from.x + b * (from.x + reach) + c * (to.x - reach) + d * to.x,
                          (a + b) * from.y + (c + d) * to.y});
    }
    return points;
}

void add_flow_band(Picture& picture, const std::vector<Point>& curve, float width, Color from, Color to) {
    if (curve.size() < 2)
        return;
    figure::BandItem band;
    const auto mix = [&](float t) {
        Color out = 0;
        for (int shift = 0; shift < 32; shift += 8) {
            const auto a = static_cast<float>(from >> shift & 0xFFU),
                       b = static_cast<float>(to >> shift & 0xFFU);
            out |= static_cast<Color>(std::lround(a + (b - a) * t)) << shift;
        }
        return out;
    };
    for (std::size_t n = 0; n < curve.size(); ++n) {
        const Point &before = curve[n == 0 ? 0 : n - 1], &after = curve[std::min(n + 1, curve.size() - 1)];
        const float dx = after.x - before.x, dy = after.y - before.y;
        const float length = std::max(std::sqrt(dx * dx + dy * dy), 1e-6F);
        const float x = -dy / length * width / 2, y = dx / length * width / 2;
        band.edge.push_back({curve[n].x - x, curve[n].y - y});
        band.other_edge.push_back({curve[n].x + x, curve[n].y + y});
        band.colors.push_back(mix(static_cast<float>(n) / static_cast<float>(curve.size() - 1)));
    }
    picture.scene.add(std::move(band));
}

void add_dashes(Picture& picture, const std::vector<Point>& curve, Color color, float width) {
    constexpr float dash = 6;
    float along = 0;
    for (std::size_t n = 0; n + 1 < curve.size(); ++n) {
        const float dx = curve[n + 1].x - curve[n].x, dy = curve[n + 1].y - curve[n].y;
        const float length = std::sqrt(dx * dx + dy * dy);
        // Pieces of a segment, alternately drawn and left out.
        for (float at = 0; at < length;) {
            const float phase = std::fmod(along + at, 2 * dash);
            const float end = std::min(length, at + (phase < dash ? dash - phase : 2 * dash - phase));
            if (phase < dash)
                picture.scene.add(
                    figure::LineItem{{curve[n].x + dx * at / length, curve[n].y + dy * at / length},
                                     {curve[n].x + dx * end / length, curve[n].y + dy * end / length},
                                     color,
                                     width});
            at = std::max(end, at + 0.01F);
        }
        along += length;
    }
}

void draw_model_streams(Picture& picture, const ModelFlow& flow) {
    const ModelFlowLayout& layout = flow.layout;
    const Theme& theme = flow.theme();
    const float width = std::clamp(layout.pitch * 0.18F, 1.0F, 7.0F);
    const float right = std::min(layout.final_norm.x, flow.moment.front);
    for (std::int64_t i = 0; i < flow.T; ++i) {
        const float y = layout.row(i);
        const bool focus = i == flow.position;
        const float half = (focus ? width + 1 : width) / 2;
        picture.scene.add(figure::RectItem{
            .area = {layout.stream_left, y - half, layout.final_norm.x - layout.stream_left, 2 * half},
            .fill = theme.line});
        if (focus && right > layout.stream_left)
            picture.scene.add(
                figure::RectItem{.area = {layout.stream_left, y - half, right - layout.stream_left, 2 * half},
                                 .fill = theme.ink});
    }
}

void draw_model_words(Picture& picture, const ModelFlow& flow) {
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    const ModelFlowLayout& layout = flow.layout;
    const std::int64_t every = word_step(layout.pitch), attended = attended_token(flow);
    constexpr float size = 13.5F;
    const float row_height = std::clamp(layout.pitch - 2, 13.0F, 26.0F);
    const auto near = [&](std::int64_t i, std::int64_t other) {
        return other >= 0 && i != other && std::abs(i - other) < every;
    };
    for (std::int64_t i = 0; i < flow.T; ++i) {
        const bool focus = i == flow.position, read = i == attended;
        const float y = layout.row(i);
        const bool written =
            focus || read || (i % every == 0 && !near(i, flow.position) && !near(i, attended));
        const std::string& word = flow.word(i);
        if (written) {
            const Font font = focus || read ? Font::ui_semibold : Font::ui;
            const std::string label = fitted(context, word, font, size, layout.word_width - 8);
            const float width = context.measure(label, font, size);
            const Rect chip{layout.words_right - width - 16, y - row_height / 2, width + 16, row_height};
            if (focus)
                picture.scene.add(figure::RectItem{.area = chip, .fill = theme.ink, .radius = 4});
            else if (read)
                picture.scene.add(figure::RectItem{.area = chip,
                                                   .fill = theme.canvas,
                                                   .stroke = theme.ink,
                                                   .stroke_width = 1.5F,
                                                   .radius = 4});
            draw_text(picture, context, layout.words_right - 8, figure::baseline_for(y, size), label, font,
                      size,
                      focus  ? theme.canvas
                      : read ? theme.ink
                             : theme.text,
                      Align::right);
        }
        const Rect place{layout.words_right - layout.word_width, y - layout.pitch / 2, layout.word_width,
                         layout.pitch};
        if (context.controls && !add_word_field(picture, context, {i}, flow.T, place))
            add_word_hotspot(
                picture, context, place, "position " + std::to_string(i), {i}, focus, PredictAt{i},
                tr("model_streams.word_tip", "“{}”, token {}: click to see what follows it", word, i));
    }
}

void draw_final_norm(Picture& picture, const ModelFlow& flow) {
    const Theme& theme = flow.theme();
    const Rect& area = flow.layout.final_norm;
    picture.scene.add(
        figure::RectItem{.area = area, .fill = theme.panel, .stroke = theme.line2, .radius = 5});
    const bool predicts = flow.layout.hero.w > 0;
    figure::add_text(picture.scene, {area.x + area.w / 2 + 4.5F, area.y + area.h / 2},
                     predicts ? tr("model_streams.final_norm_unembed", "final norm, then W_U")
                              : tr("model_streams.final_norm", "final norm"),
                     Font::ui, 12.5F, theme.muted, Align::center, -90);
}

void draw_best_guesses(Picture& picture, const ModelFlow& flow) {
    const FlowGuesses* const guesses = flow.guesses();
    const ModelFlowLayout& layout = flow.layout;
    if (guesses == nullptr || layout.hero.w <= 0 || guesses->position != flow.position)
        return;
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    constexpr float height = ModelFlowLayout::guess_height;
    const float label = layout.words_right - layout.word_width;
    draw_text(picture, context, label, layout.guess_top + 15, tr("model_streams.best_guess", "Best guess"),
              Font::ui_semibold, 12.5F, theme.ink);
    draw_text(picture, context, label, layout.guess_top + 31,
              tr("model_streams.at_word", "at “{}”", shortened(flow.word(flow.position), 9)), Font::ui, 12,
              theme.muted);
    const std::string& final_word = guesses->layers.back().front().word;
    float previous =
        label +
        std::max(context.measure(tr("model_streams.best_guess", "Best guess"), Font::ui_semibold, 12.5F),
                 60.0F) +
        6;
    for (std::size_t n = 0; n <= flow.slabs.size(); ++n) {
        const std::int64_t level = n == 0 ? 0 : flow.slabs[n - 1].last + 1;
        const float x = n == 0 ? (layout.stream_left + layout.slabs.front().x) / 2 : layout.after(n - 1);
        if (level >= std::ssize(guesses->layers) || !flow.moment.reached(x))
            continue;
        const FlowGuesses::Guess& guess = guesses->layers[static_cast<std::size_t>(level)].front();
        const float next = n == flow.slabs.size() ? layout.final_norm.right() + 40
                           : n == 0               ? layout.after(0)
                                                  : layout.after(n);
        // A pill may extend to the right of its place, as far as the next one has room.
        const float most = std::max(
            {2 * std::min(x - previous, (next - x) * 0.6F), std::min(next - 40 - previous, 96.0F), 34.0F});
        const bool final = guess.word == final_word;
        const std::string chance = percent_text(static_cast<double>(guess.probability)),
                          word = fitted(context, guess.word, Font::ui_semibold, 13, most - 12);
        const float width = std::min(
            std::max(context.measure(word, Font::ui_semibold, 13), context.measure(chance, Font::mono, 12)) +
                14,
            std::max(most, 44.0F));
        const float left = std::max(x - width / 2, previous);
        const Rect area{left, layout.guess_top, width, height};
        picture.scene.add(figure::LineItem{{x, layout.row(flow.position) + 6}, {x, area.y}, theme.line2, 1});
        picture.scene.add(figure::RectItem{.area = area,
                                           .fill = final ? theme.ink : theme.raise,
                                           .stroke = final ? theme.ink : theme.line2,
                                           .radius = 4});
        draw_text(picture, context, area.x + area.w / 2, area.y + 16, word, Font::ui_semibold, 13,
                  final ? theme.canvas : theme.ink, Align::center);
        draw_text(picture, context, area.x + area.w / 2, area.y + 32, chance, Font::mono, 12,
                  final ? theme.canvas : theme.text, Align::center);
        if (context.controls)
            picture.add_hotspot(
                area, "guess " + std::to_string(level), ShowFlowGuess{level},
                level == 0 ? tr("model_streams.guess_embedding_tip",
                                "The model would say “{}” without any layer: click for the list", guess.word)
                           : tr("model_streams.guess_layer_tip",
                                "After layer {} the model would say “{}”: click for the list", level - 1,
                                guess.word));
        previous = area.right() + 4;
    }
}

} // namespace headscope::app
