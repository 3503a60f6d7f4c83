#include "app/draw/effects/pair_bar.h"

#include "app/commands/command.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

namespace headscope::app {

Picture draw_pair_bar(const DrawContext& context, const std::string& separator,
                      const checkpoint::TextPair& pair) {
    Picture picture;
    const Theme& theme = context.theme;
    constexpr float height = pair_bar_height, size = 13, gap = 8, pad = 24;
    picture.scene.width = context.width;
    picture.scene.height = height;
    picture.scene.add(figure::RectItem{.area = {0, 0, context.width, height}, .fill = theme.highlight});
    picture.scene.add(figure::RectItem{.area = {0, 0, 3, height}, .fill = theme.ink});
    draw_hairline(picture, context, 0, height - 0.5F, context.width);
    const std::string one = tr("pair_bar.keep_one_text", "Keep one text"),
                      two = tr("pair_bar.make_two_texts", "Make two texts");
    const auto width_of = [&](const std::string& label) {
        return context.measure(label, figure::Font::ui_medium, size) + pad;
    };
    const float of_two = width_of(two), of_one = width_of(one), x = canvas_pad - 8;
    float end = context.width - 12;
    if (context.controls) {
        draw_button(picture, context, {end - of_one, 6, of_one, height - 12}, one, DecidePair{false}, false,
                    tr("pair_bar.all_tokens_keep_type", "All tokens keep type 0"));
        end -= of_one + gap;
        draw_button(picture, context, {end - of_two, 6, of_two, height - 12}, two, DecidePair{true}, false,
                    tr("pair_bar.tokens_second_text_get",
                       "“{}” and “{}”; the tokens of the second text get type 1", pair.first, pair.second));
        end -= of_two + 12;
    }
    // Translators: {} is a token, such as [SEP]
    const std::string words =
        tr("pair_bar.inside_one_text_all",
           "{} inside one text: all tokens have type 0. Should this be two texts, with types 0 and 1?",
           separator);
    const std::string fitting = fitted_words(context, words, figure::Font::ui, size, end - x);
    draw_text(picture, context, x, figure::baseline_for(height / 2, size), fitting, figure::Font::ui, size,
              theme.ink);
    if (fitting != words)
        picture.tips.push_back({{x, 0, end - x, height}, words});
    return picture;
}

} // namespace headscope::app
