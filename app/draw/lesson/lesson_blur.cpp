#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/plot.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float bars = 30.0F, blur_plot_height = 88.0F, axis_word_size = 11.0F;

/// One head's row of weights as bars over the words.
void draw_head_row(PanelColumn& column, const lesson::MergeFigure& figure,
                   const lesson::MergeFigure::Head& head, float pitch) {
    const Theme& theme = column.context.theme;
    const HeadColours& colours = theme.head(head.head, static_cast<std::int64_t>(coloured_heads));
    draw_text(column.picture, column.context, column.x, column.y + 12,
              tr("common.head_3", "head {}", head.head), figure::Font::ui_medium, 12, colours.colour);
    draw_text(column.picture, column.context, column.right(), column.y + 12,
              tr("lesson_blur.entropy", "entropy {}", number(head.entropy, 2)), figure::Font::ui, 12,
              theme.ink, figure::Align::right);
    const float floor = column.y + 16 + bars;
    column.picture.scene.add(figure::LineItem{{column.x, floor}, {column.right(), floor}, theme.line2, 1});
    for (std::size_t j = 0; j < head.weights.size(); ++j) {
        const float x = column.x + pitch * static_cast<float>(j), height = bars * head.weights[j];
        column.picture.scene.add(figure::RectItem{
            .area = {x + 1, floor - height, std::max(pitch - 2, 1.0F), height}, .fill = colours.colour});
        column.picture.tips.push_back({{x, column.y + 14, pitch, bars + 4},
                                       // Translators: a head’s weight on a token
                                       tr("lesson_blur.head", "Head {}: {} on {}", head.head,
                                          number(static_cast<double>(head.weights[j]), 3), figure.words[j])});
    }
    // Prints the largest weight beside its bar.
    const auto top = std::ranges::max_element(head.weights);
    const float bar = column.x + pitch * static_cast<float>(top - head.weights.begin());
    const std::string text = number(static_cast<double>(*top), 2);
    const bool fits =
        bar + pitch + 3 + column.context.measure(text, figure::Font::mono, 11) <= column.right();
    draw_text(column.picture, column.context, fits ? bar + pitch + 3 : bar - 3,
              std::max(floor - bars * *top + 10, column.y + 26), text, figure::Font::mono, 11, theme.ink,
              fits ? figure::Align::left : figure::Align::right);
    column.y = floor + 6;
}

/// Draws the rotated words below the bars; a word with the largest weight of some head is bold.
void draw_words(PanelColumn& column, const lesson::MergeFigure& figure, float pitch) {
    const Theme& theme = column.context.theme;
    float longest = 0;
    for (std::size_t j = 0; j < figure.words.size(); ++j) {
        const bool read = std::ranges::any_of(
            figure.heads, [&](const auto& head) { return head.top == static_cast<std::int64_t>(j); });
        const figure::Font font = read ? figure::Font::ui_semibold : figure::Font::ui;
        const std::string word = shortened(figure.words[j], 10);
        longest = std::max(longest, column.context.measure(word, font, axis_word_size));
        add_text(column.picture.scene, {column.x + pitch * (static_cast<float>(j) + 0.5F) - 4, column.y},
                 word, font, axis_word_size, read ? theme.ink : theme.muted, figure::Align::left, 90);
    }
    column.y += longest + 8;
}

} // namespace

void draw_blur(PanelColumn& column, const lesson::MergeFigure& figure, double share) {
    const Theme& theme = column.context.theme;
    const float pitch = column.width / static_cast<float>(figure.words.size());
    for (const lesson::MergeFigure::Head& head : figure.heads)
        draw_head_row(column, figure, head, pitch);
    draw_words(column, figure, pitch);

    const double ceiling = std::log(static_cast<double>(figure.heads.size()));
    const std::string n = std::to_string(figure.heads.size());
    const double top = std::max(ceiling, figure.entropy_by_fraction.back().second) * 1.1;
    Plot plot{
        .x = {.low = 0,
              .high = 1,
              .ticks = {{0, tr("lesson_blur.0_each_own", "0: separate heads")},
                        {1, tr("lesson_blur.1_one_head", "1: one head")}}},
        .y = {.low = 0, .high = top, .ticks = {{0, "0"}, {ceiling, "ln " + n + " = " + number(ceiling, 2)}}},
        .lines = {{figure.entropy_by_fraction, theme.text}},
        .dots = {{share, figure.entropy, theme.ink}},
        // Translators: “merged” is the name of a slider
        .x_label = tr("lesson_blur.mean_entropy_over_merged", "mean entropy by “merged”: {} now",
                      number(figure.entropy, 2))};
    draw_plot(column.picture, column.context, plot, {column.x, column.y, column.width, blur_plot_height});
    column.y += blur_plot_height + 4;
}

} // namespace headscope::app
