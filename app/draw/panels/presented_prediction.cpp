#include "app/draw/panels/presented_prediction.h"

#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"
#include "core/checkpoint/model/text_model.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float prediction_pad = 24, column_width = 172, column_gap = 24;

/// A token, its probability as a number and as a bar, and the probability before the edits.
void draw_likely_token(Picture& picture, const DrawContext& context, const TokenProbability& odds,
                       bool edited, float x, float width) {
    const Theme& theme = context.theme;
    constexpr float baseline = 36, bar_y = 49, bar_high = 8;
    const std::string now = percent_text(static_cast<double>(odds.after));
    const float number = draw_text(picture, context, x + width, baseline, now, figure::Font::mono_semibold,
                                   20, theme.ink, figure::Align::right);
    draw_text(picture, context, x, baseline,
              fitted(context, odds.label, figure::Font::ui_semibold, 24, width - number - 10),
              figure::Font::ui_semibold, 24, theme.ink);
    const auto part = [&](float probability) { return width * std::clamp(probability, 0.0F, 1.0F); };
    picture.scene.add(figure::RectItem{.area = {x, bar_y, width, bar_high}, .fill = theme.line, .radius = 2});
    picture.scene.add(figure::RectItem{
        .area = {x, bar_y, std::max(part(odds.after), 1.0F), bar_high}, .fill = theme.ink, .radius = 2});
    if (!edited)
        return;
    picture.scene.add(figure::RectItem{.area = {x + part(odds.before) - 1, bar_y - 4, 2, bar_high + 8},
                                       .fill = theme.text});
    draw_text(picture, context, x + width, bar_y + bar_high + 21,
              tr("presented_prediction.before", "before {}", percent_text(static_cast<double>(odds.before))),
              figure::Font::ui, 15, theme.text, figure::Align::right);
}

} // namespace

Picture draw_presented_prediction(const DrawContext& context, const Predictions& predictions) {
    Picture picture;
    const Theme& theme = context.theme;
    picture.scene.width = context.width;
    picture.scene.height = context.height;
    picture.scene.add(figure::RectItem{.area = {0, 0, context.width, context.height}, .fill = theme.panel});
    draw_hairline(picture, context, 0, 0.5F, context.width);
    const Document& document = *context.shown.document;
    const bool masked = document.is_checkpoint() && document.part()->model->masked();
    const std::string title = masked ? tr("model_next_word.at_position", "At this position")
                                     : tr("model_next_word.next_word", "Next word");
    const std::string after =
        masked ? tr("presented_prediction.in_place_of", "in place of “{}”", predictions.token)
               : tr("presented_prediction.after", "after “{}”", predictions.token);
    const float most_words = std::max(context.width / 4, 120.0F);
    const float words = std::max(draw_text(picture, context, prediction_pad, 36,
                                           fitted(context, title, figure::Font::ui_semibold, 20, most_words),
                                           figure::Font::ui_semibold, 20, theme.ink),
                                 draw_text(picture, context, prediction_pad, 62,
                                           fitted(context, after, figure::Font::ui, 16, most_words),
                                           figure::Font::ui, 16, theme.text));
    const float from = prediction_pad + words + 2 * column_gap, room = context.width - prediction_pad - from;
    const auto fits =
        static_cast<std::size_t>(std::max(1.0F, (room + column_gap) / (column_width + column_gap)));
    const std::size_t count = std::min(fits, predictions.likeliest.size());
    if (count == 0)
        return picture;
    const float width =
        std::min((room + column_gap) / static_cast<float>(count) - column_gap, 1.4F * column_width);
    float x = from;
    for (std::size_t n = 0; n < count; ++n, x += width + column_gap)
        draw_likely_token(picture, context, predictions.likeliest[n], predictions.edited, x, width);
    return picture;
}

} // namespace headscope::app
