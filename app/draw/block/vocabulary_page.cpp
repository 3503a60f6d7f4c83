#include "app/draw/block/block_parts.h"
#include "app/draw/block/end_weights.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

using enum TensorId;

constexpr float token_height = 24, name_width = 170, number_width = 84;

/// The tokens of the text; the one whose row is shown is ink. Returns the lower edge.
float draw_positions(Picture& picture, const DrawContext& context, float y) {
    const Theme& theme = context.theme;
    const Problem& problem = context.shown.problem();
    const std::int64_t T = problem.dims.Tq, chosen = context.shown.block->position;
    constexpr std::int64_t most = 60;
    const std::int64_t first =
        std::clamp<std::int64_t>(chosen - most / 2, 0, std::max<std::int64_t>(T - most, 0));
    const std::string where = context.shown.document->part()->model->masked()
                                  ? tr("vocabulary_page.place", "in place of")
                                  : tr("vocabulary_page.after_token", "after the token");
    const float before = std::max(
        draw_text(picture, context, canvas_pad, y + 15, where, figure::Font::ui, 12.5F, theme.muted) + 12,
        104.0F);
    float x = canvas_pad + before;
    for (std::int64_t i = first; i < std::min(T, first + most); ++i) {
        const std::string text = shortened(problem.query_label(i), 14);
        const float width = context.measure(text, figure::Font::ui, 12.5F) + 12;
        if (x + width > context.width - canvas_pad) {
            x = canvas_pad + before;
            y += 26;
        }
        const bool on = i == chosen;
        const figure::Rect area{x, y, width, 22};
        picture.scene.add(figure::RectItem{.area = area,
                                           .fill = on ? theme.ink : theme.raise,
                                           .stroke = on ? theme.ink : theme.line2,
                                           .radius = 4});
        draw_text(picture, context, x + 6, figure::baseline_for(y + 11, 12.5F), text,
                  on ? figure::Font::ui_medium : figure::Font::ui, 12.5F, on ? theme.canvas : theme.ink);
        if (context.controls)
            picture.add_hotspot(area, "after " + std::to_string(i), GoTo{context.view.group, i},
                                tr("vocabulary_page.follows_token", "Prediction after token {}", i));
        x += width + 4;
    }
    return y + 40;
}

constexpr std::size_t at(std::int64_t token) {
    return static_cast<std::size_t>(token);
}

/// The numbers 0 to `count` - 1 by what `key` gives, the largest first: `most` of them.
template<class Key>
std::vector<std::int64_t> first_by(std::size_t count, std::size_t most, const Key& key) {
    std::vector<std::int64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    most = std::min(most, count);
    std::ranges::partial_sort(numbers, numbers.begin() + static_cast<std::ptrdiff_t>(most),
                              std::ranges::greater{}, key);
    numbers.resize(most);
    return numbers;
}

/// "+0.42", and of a probability "+1.20 pp", percentage points; `most` is the largest change of the list.
std::string change_text(TensorId id, float change, float most) {
    const float times = id == probabilities ? 100 : 1;
    return signed_number(static_cast<double>(times * change), times * most < 0.05F ? 4 : 2) +
           (id == probabilities ? " pp" : "");
}

} // namespace

Picture draw_vocabulary_page(const DrawContext& context) {
    const Theme& theme = context.theme;
    const Shown& shown = context.shown;
    const TensorId id = group_info(context.view.group).main;
    const std::int64_t position = shown.block->position;
    Picture picture;
    picture.scene.width = context.width;
    draw_view_heading(picture, context, title_around(shown, id), formula_around(shown, id));
    float y = draw_positions(picture, context, 104);
    const std::span<const float> logit = shown.tensor(logits)->values(),
                                 share = shown.tensor(probabilities)->values();
    const float below = output_weights_height(context);
    const auto fit =
        static_cast<std::size_t>(std::max((context.height - y - 90 - below) / token_height, 8.0F));
    std::vector<std::int64_t> tokens =
        first_by(logit.size(), fit, [&](std::int64_t token) { return logit[at(token)]; });

    // The token that is looked at has its place.
    const std::int64_t chosen = token_looked_at(context, tokens.front());
    if (std::ranges::find(tokens, chosen) == tokens.end())
        tokens.back() = chosen;

    const float right = context.width - canvas_pad, bar = canvas_pad + name_width + number_width + 16,
                room = right - bar - number_width;
    const auto head = [&](float x, const std::string& text, figure::Align align) {
        draw_text(picture, context, x, y + 14, text, figure::Font::mono, 12, theme.muted, align);
    };
    head(canvas_pad, tr("common.token", "token"), figure::Align::left);
    head(bar - 16, tr("common.logit", "logit"), figure::Align::right);
    head(right, tr("common.probability", "probability"), figure::Align::right);
    y += 22;
    const bool shares = id == probabilities;
    const float most = shares ? share[static_cast<std::size_t>(tokens.front())]
                              : logit[static_cast<std::size_t>(tokens.front())];
    const float least =
        shares ? 0.0F : std::min(0.0F, *std::ranges::min_element(logit)); // bars begin at the lowest or at 0
    const auto cell = current_cell(shown, context.view);
    const std::int64_t spoken = cell && cell->tensor == id ? cell->at[2] : chosen;
    double sum = 0;
    for (const std::int64_t token : tokens) {
        const float value = shares ? share[at(token)] : logit[at(token)];
        sum += static_cast<double>(share[at(token)]);
        const bool on = spoken == token;
        const float baseline = figure::baseline_for(y + token_height / 2, 13);
        const figure::Rect area{canvas_pad - 8, y, right - canvas_pad + 16, token_height};
        if (on)
            picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight});
        draw_text(picture, context, canvas_pad, baseline,
                  shortened(checkpoint::label_of(*shown.document->part()->model, token), 18),
                  on ? figure::Font::ui_semibold : figure::Font::ui_medium, 13, theme.ink);
        draw_text(picture, context, bar - 16, baseline, number(static_cast<double>(logit[at(token)]), 2),
                  shares ? figure::Font::mono : figure::Font::mono_semibold, 12.5F,
                  shares ? theme.text : theme.ink, figure::Align::right);
        picture.scene.add(figure::RectItem{
            .area = {bar, y + 7,
                     room * std::clamp((value - least) / std::max(most - least, 1e-9F), 0.0F, 1.0F), 10},
            .fill = on ? theme.ink : theme.muted});
        draw_text(picture, context, right, baseline, percent_text(static_cast<double>(share[at(token)])),
                  shares ? figure::Font::mono_semibold : figure::Font::mono, 12.5F,
                  shares ? theme.ink : theme.text, figure::Align::right);
        MatrixGrid line{.tensor = id,
                        .origin = {0, position, token, 0},
                        .row_axis = 1,
                        .col_axis = 2,
                        .rows = 1,
                        .cols = 1,
                        .area = area,
                        .pitch_x = area.w,
                        .pitch_y = area.h};
        picture.grids.push_back(std::move(line));
        y += token_height;
    }
    draw_text(picture, context, canvas_pad, y + 22,
              tr("vocabulary_page.tokens_together", "These {} of {} tokens together have {}.",
                 grouped(std::ssize(tokens)), grouped(std::ssize(logit)), percent_text(sum)),
              figure::Font::ui, 12.5F, theme.muted);
    y = draw_output_weights(picture, context, chosen, std::max(y + 42, context.height - below));
    picture.scene.height = std::max(context.height, y);
    return picture;
}

Picture draw_vocabulary_change(const DrawContext& context) {
    const Theme& theme = context.theme;
    const TensorId id = group_info(context.view.group).main;
    const Comparison& compare = *context.compare;
    const std::int64_t position = context.shown.block->position;
    Picture picture;
    picture.scene.width = context.width;
    draw_view_heading(picture, context, title_around(context.shown, id) + ", B − A",
                      formula_around(context.shown, id));
    float y = draw_positions(picture, context, 104);
    const std::span<const float> change = compare.of(id)->cells->values(),
                                 before = compare.baseline().tensor(id)->values(),
                                 now = compare.now().tensor(id)->values();
    const auto fit = static_cast<std::size_t>(std::max((context.height - y - 90) / token_height, 8.0F));
    const std::vector<std::int64_t> tokens =
        first_by(change.size(), fit, [&](std::int64_t token) { return std::abs(change[at(token)]); });
    const float right = context.width - canvas_pad, bar = canvas_pad + name_width + 2 * number_width + 16,
                room = right - bar - number_width,
                most = std::max(std::abs(change[at(tokens.front())]), 1e-9F);
    const auto head = [&](float x, const std::string& text, figure::Align align) {
        draw_text(picture, context, x, y + 14, text, figure::Font::mono, 12, theme.muted, align);
    };
    head(canvas_pad, tr("common.token", "token"), figure::Align::left);
    head(bar - 16 - number_width, "A", figure::Align::right);
    head(bar - 16, "B", figure::Align::right);
    head(right, "B − A", figure::Align::right);
    y += 22;
    const auto told = [&](float value) {
        return id == probabilities ? percent_text(static_cast<double>(value))
                                   : number(static_cast<double>(value), 2);
    };
    const auto cell = current_cell(context.shown, context.view);
    const float zero = bar + room / 2;
    for (const std::int64_t token : tokens) {
        const float by = change[at(token)], baseline = figure::baseline_for(y + token_height / 2, 13),
                    length = room / 2 * std::abs(by) / most;
        const figure::Rect area{canvas_pad - 8, y, right - canvas_pad + 16, token_height};
        if (cell && cell->tensor == id && cell->at[2] == token)
            picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight});
        draw_text(picture, context, canvas_pad, baseline,
                  shortened(checkpoint::label_of(*context.shown.document->part()->model, token), 18),
                  figure::Font::ui_medium, 13, theme.ink);
        draw_text(picture, context, bar - 16 - number_width, baseline, told(before[at(token)]),
                  figure::Font::mono, 12.5F, theme.text, figure::Align::right);
        draw_text(picture, context, bar - 16, baseline, told(now[at(token)]), figure::Font::mono, 12.5F,
                  theme.text, figure::Align::right);
        picture.scene.add(figure::RectItem{.area = {by < 0 ? zero - length : zero, y + 7, length, 10},
                                           .fill = ramp_color(theme.diverging, by < 0 ? 0.1F : 0.9F)});
        draw_text(picture, context, right, baseline, change_text(id, by, most), figure::Font::mono_semibold,
                  12.5F, theme.ink, figure::Align::right);
        picture.grids.push_back({.tensor = id,
                                 .origin = {0, position, token, 0},
                                 .row_axis = 1,
                                 .col_axis = 2,
                                 .rows = 1,
                                 .cols = 1,
                                 .area = area,
                                 .pitch_x = area.w,
                                 .pitch_y = area.h,
                                 .shows_own_values = false});
        y += token_height;
    }
    picture.scene.add(figure::LineItem{
        {zero, y - token_height * static_cast<float>(tokens.size())}, {zero, y}, theme.line2, 1});
    draw_text(picture, context, canvas_pad, y + 22,
              tr("vocabulary_page.tokens_changed_most_up",
                 "The {} of {} tokens that changed most, up to the right and down to the left.",
                 grouped(std::ssize(tokens)), grouped(std::ssize(change))),
              figure::Font::ui, 12.5F, theme.muted);
    say_unchanged(picture, context, id, y + 46);
    picture.scene.height = std::max(context.height, y + 70);
    return picture;
}

} // namespace headscope::app
