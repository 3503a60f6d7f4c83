#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/pages.h"
#include "app/draw/pages/weight_parts.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::app {

namespace {

constexpr float text_label_width = 150.0F;
constexpr float number_height = 20.0F;
constexpr float word_gap = 3.0F;
constexpr float line_gap = 8.0F;
constexpr float block_gap = 20.0F;
constexpr float text_foot = 52.0F; ///< height of the legend

/// The sizes of words.
struct Type {
    float size = 14.5F;
    float height = 28.0F; ///< height of the color behind a word
};

/// Words in running lines: the position of each, and the lower edge of all lines.
struct Flow {
    std::vector<figure::Rect> places;
    float bottom = 0;
};

Flow flow_words(const DrawContext& context, bool keys, const Type& type, float left, float y, float width,
                float line_height) {
    const Problem& problem = context.shown.problem();
    const std::int64_t count = keys ? problem.dims.Tk : problem.dims.Tq;
    Flow flow;
    float x = left;
    for (std::int64_t n = 0; n < count; ++n) {
        const std::string word =
            shortened(keys ? problem.key_label(n) : problem.query_label(n), longest_word);
        const float room =
            std::max(context.measure(word, figure::Font::ui_semibold, type.size) + 1.1F * type.size,
                     context.measure("+0.00", figure::Font::mono_semibold, 12) + 4);
        if (x > left && x + room > left + width) {
            x = left;
            y += line_height + line_gap;
        }
        flow.places.push_back({x, y, room, line_height});
        x += room + word_gap;
    }
    flow.bottom = y + line_height;
    return flow;
}

/// The largest sizes for which the sentence fits on one line and all heads fit on screen.
Type type_for(const DrawContext& context, float top, float width, std::size_t blocks) {
    for (const Type type : {Type{22, 42}, Type{17, 34}}) {
        const float block = type.height + number_height + block_gap;
        const float height = top + type.height + 40 + block * static_cast<float>(blocks) + text_foot;
        const auto one_line = [&](bool keys) {
            return flow_words(context, keys, type, 0, 0, width, 1).bottom == 1;
        };
        if (height <= context.height && one_line(false) && one_line(true))
            return type;
    }
    return {};
}

/// Draws one key word on the color of its weight, with the number below.
void draw_read_word(Picture& picture, const FigureWeights& reading, std::int64_t i, std::int64_t j,
                    const Type& type, const figure::Rect& place, float end) {
    const DrawContext& context = reading.context();
    const std::string full = context.shown.problem().key_label(j);
    const std::string word = shortened(full, longest_word);
    if (word != full)
        picture.tips.push_back({place, full});
    const figure::Rect back{place.x, place.y, place.w, type.height};
    const float middle = place.x + place.w / 2;
    const float baseline = figure::baseline_for(back.y + back.h / 2, type.size);
    reading.add_cell(picture, i, j, place, end);
    if (reading.masked(i, j)) {
        draw_hatched(picture, context.theme, back);
        draw_text(picture, context, middle, baseline, word, figure::Font::ui, type.size, context.theme.muted,
                  figure::Align::center);
        return;
    }
    const float value = reading.at(i, j);
    const bool bold = j == reading.largest(i);
    const figure::Color fill = reading.cell_color(value, end);
    picture.scene.add(figure::RectItem{.area = back, .fill = fill});
    draw_text(picture, context, middle, baseline, word, bold ? figure::Font::ui_semibold : figure::Font::ui,
              type.size, text_on(fill), figure::Align::center);
    draw_text(picture, context, middle, back.bottom() + 14, reading.text(value),
              bold ? figure::Font::mono_semibold : figure::Font::mono, 12,
              bold ? context.theme.ink : context.theme.muted, figure::Align::center);
}

void draw_block_label(Picture& picture, const FigureWeights& reading, const Type& type, float y) {
    const DrawContext& context = reading.context();
    const Theme& theme = context.theme;
    const figure::Rect bar{canvas_pad, y, 4, type.height + number_height - 6};
    const bool one = reading.kind() == HeadsView::each;
    draw_figure_bar(picture, reading, bar);
    const float x = canvas_pad + 14, room = text_label_width - 22;
    draw_text(picture, context, x, y + bar.h / 2 - 3, reading.title(), figure::Font::ui_semibold, 13.5F,
              theme.ink);
    // A difference or a mean is explained in the legend.
    const std::string full = one ? reading.role() : "";
    const std::string role = fitted_words(context, full, figure::Font::ui, 12.5F, room);
    if (!role.empty())
        draw_text(picture, context, x, y + bar.h / 2 + 15, role, figure::Font::ui, 12.5F, theme.muted);
    if (role != full)
        picture.tips.push_back({{canvas_pad, y, text_label_width - 8, bar.h}, full});
}

/// Draws the sentence for one head. Returns the lower edge.
float draw_block(Picture& picture, const FigureWeights& reading, const Type& type, std::int64_t row, float y,
                 float width, float end) {
    const DrawContext& context = reading.context();
    const float left = canvas_pad + text_label_width;
    draw_block_label(picture, reading, type, y);
    const Flow flow =
        flow_words(context, true, type, left, y, width - text_label_width, type.height + number_height);
    for (std::int64_t j = 0; j < context.dims().Tk; ++j)
        draw_read_word(picture, reading, row, j, type, flow.places[static_cast<std::size_t>(j)], end);
    if (!reading.is_fully_masked(row))
        return flow.bottom;
    draw_text(picture, context, left, flow.bottom + 4, fully_masked_text(context, row) + ".",
              figure::Font::ui, 13.5F, context.theme.text);
    return flow.bottom + 12;
}

std::string scale_text(const DrawContext& context, const FigureWeights& reading) {
    switch (reading.kind()) {
    case HeadsView::each:
        if (context.shown.document->shows_weights())
            return reading.log_colours() ? tr("common.weight_log_scale", "weight, log scale")
                                         : tr("common.weight", "weight");
        return context.dims().H > 1 ? tr("text_page.weight_every_head_scale",
                                         "weight, every head on this scale in its own color")
                                    : tr("common.weight", "weight");
    case HeadsView::difference:
        return tr("text_page.difference_above_0_reads", "difference: above 0, {} reads it more, below, {}",
                  head_title_in_sentence(context, reading.head()),
                  head_title_in_sentence(context, context.view.compared_head));
    case HeadsView::mean:
        return reading.log_colours() ? tr("text_page.mean_weight_log_scale", "mean weight, log scale")
                                     : tr("text_page.mean_weight_over_all", "mean weight, over all heads");
    }
    return {};
}

} // namespace

Picture draw_text_page(const DrawContext& context) {
    Picture picture;
    picture.scene.width = context.width;
    const Theme& theme = context.theme;
    const std::vector<FigureWeights> readings = figure_weights_of(context);
    const FigureWeights focus = focused_figure_weights(context);
    const std::int64_t row = focused_cell(context).row;
    const float width = context.width - 2 * canvas_pad;
    const float top = draw_weights_head(picture, context, weights_title(context), weights_formula(context));

    const Type type = type_for(context, top, width - text_label_width, readings.size());
    draw_text(picture, context, canvas_pad, top + 12, tr("text_page.query", "Query"),
              figure::Font::ui_semibold, 13.5F, theme.ink);
    draw_text(picture, context, canvas_pad, top + 30, tr("text_page.word_reads", "the word that reads"),
              figure::Font::ui, 12.5F, theme.muted);
    const Flow queries = flow_words(context, false, type, canvas_pad + text_label_width, top,
                                    width - text_label_width, type.height);
    for (std::int64_t i = 0; i < context.dims().Tq; ++i)
        draw_query_word(picture, context, queries.places[static_cast<std::size_t>(i)], i, context.view.head,
                        i == row ? WordState::focused_query : WordState::plain, type.size);
    float y = std::max(queries.bottom, top + 36) + 18;
    draw_hairline(picture, context, canvas_pad, y, width);
    y += 20;

    const float end = scale_end(context, readings);
    for (const FigureWeights& reading : readings)
        y = draw_block(picture, reading, type, row, y, width, end) + block_gap;
    const bool difference = focus.kind() == HeadsView::difference;
    const float legend_left = canvas_pad + text_label_width;
    // A difference needs all words of its explanation: if they do not fit into the legend, they are placed
    // below it.
    const std::string words = scale_text(context, focus);
    const float room = context.width - 12 - legend_left;
    draw_legend(picture, context, legend_left, y + 4, focus.log_colours() ? 180 : 160, focus.ramp(),
                difference ? -end : 0, end, difference ? "" : words, any_masked(readings),
                focus.log_colours(), room);
    y += text_foot;
    if (difference)
        y = draw_paragraph(picture, context, legend_left, y, room, words, figure::Font::ui, 12.5F, 18,
                           theme.muted);
    picture.scene.height = std::max(context.height, std::ceil(y));
    return picture;
}

} // namespace headscope::app
