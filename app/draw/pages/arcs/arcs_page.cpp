#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/pages/arcs/arcs_columns.h"
#include "app/draw/pages/links.h"
#include "app/draw/pages/pages.h"
#include "app/draw/pages/weight_parts.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float word_height = 26.0F;
constexpr float vessel_height = 38.0F; ///< includes the number below
constexpr float arcs_foot = 84.0F;     ///< legend below the figures
constexpr float figure_gap = 16.0F;
constexpr float least_figure = 150.0F;
constexpr std::int64_t most_figures = 4;

/// The sentence on one line, with the position of each token.
struct SentenceLine {
    std::vector<float> centers, widths;
    float size = 0; ///< size of the words; 0: the sentence does not fit
    float begin = 0, end = 0;
};

SentenceLine line_of(const DrawContext& context, float left, float room) {
    const Problem& problem = context.shown.problem();
    if (problem.cross())
        return {};
    for (const float size : {13.5F, 12.5F}) {
        SentenceLine line;
        float natural = 0;
        for (std::int64_t j = 0; j < problem.dims.Tk; ++j) {
            const std::string word = shortened(problem.key_label(j), longest_word);
            line.widths.push_back(
                std::max(context.measure(word, figure::Font::ui_semibold, size) + 16, 44.0F));
            natural += line.widths.back();
        }
        const auto gaps = static_cast<float>(problem.dims.Tk - 1);
        if (natural + 4 * gaps > room)
            continue;
        // Extra width first widens the chips by at most 24 pixels, then the gaps.
        const auto count = static_cast<float>(problem.dims.Tk);
        const float wider = std::clamp((room - natural - 12 * gaps) / count, 0.0F, 24.0F);
        for (float& width : line.widths)
            width += wider;
        natural += wider * count;
        const float gap = gaps > 0 ? std::min((room - natural) / gaps, 200.0F) : 0;
        line.size = size;
        line.begin = left + (room - natural - gap * gaps) / 2;
        float x = line.begin;
        for (const float width : line.widths) {
            line.centers.push_back(x + width / 2);
            x += width + gap;
        }
        line.end = x - gap;
        return line;
    }
    return {};
}

/// The longest arc for any focused row, in pixels. It does not depend on the current one, so that arcs keep
/// their position.
float longest_arc(const FigureWeights& reading, const SentenceLine& line) {
    const Dims& dims = reading.context().dims();
    const float least = link_thresholds(dims).focused;
    float longest = 60;
    for (std::int64_t i = 0; i < dims.Tq; ++i)
        for (std::int64_t j = 0; j < dims.Tk; ++j)
            if (std::abs(reading.at(i, j)) >= least)
                longest = std::max(longest, std::abs(line.centers[static_cast<std::size_t>(i)] -
                                                     line.centers[static_cast<std::size_t>(j)]));
    return longest;
}

/// The height of arcs: the longest arc fills the available height.
struct Rise {
    float base = 0, room = 0, longest = 0;
};

figure::CurveItem arc(const SentenceLine& line, const Link& link, const Rise& rise) {
    const float from = line.centers[static_cast<std::size_t>(link.i)];
    const float base = rise.base;
    if (link.i == link.j) {
        const float up = std::min(40.0F, rise.room / 0.75F);
        return {.from = {from - 6, base},
                .control_from = {from - 26, base - up},
                .control_to = {from + 26, base - up},
                .to = {from + 6, base}};
    }
    // The arc ends on the query's side of the key, so that two words that attend to each other have two arcs.
    const float side = link.i > link.j ? 1.0F : -1.0F;
    const float to = line.centers[static_cast<std::size_t>(link.j)] + side * 9;
    const float share = std::min(std::abs(to - from) / rise.longest, 1.0F);
    const float up = std::max(rise.room * std::pow(share, 0.8F), std::min(34.0F, rise.room)) / 0.75F;
    return {.from = {from, base},
            .control_from = {from, base - up},
            .control_to = {to, base - up},
            .to = {to, base}};
}

/// Draws the sentence with its arcs. Returns the lower edge.
float draw_line_figure(Picture& picture, const FigureWeights& reading, const SentenceLine& line,
                       const figure::Rect& area, float end) {
    const DrawContext& context = reading.context();
    const FocusedCell focused = focused_cell(context);
    const bool nothing = reading.is_fully_masked(focused.row);
    draw_figure_title(picture, reading, area.x, area.y, area.w);
    const float below = word_height + 2 + vessel_height;
    const float longest = longest_arc(reading, line);
    const float room =
        std::min(std::max(area.h - arcs_title_height - below - 8, 24.0F), std::max(0.42F * longest, 44.0F));
    const float base = area.y + arcs_title_height + 8 + room;
    draw_links(picture, reading, links_of(reading, focused.row), end, true, [&](const Link& link) {
        return arc(line, link, {base - 1, room, longest});
    });
    for (std::int64_t j = 0; j < context.dims().Tk; ++j) {
        const float width = line.widths[static_cast<std::size_t>(j)];
        const float x = line.centers[static_cast<std::size_t>(j)] - width / 2;
        const WordState state = j == focused.row               ? WordState::focused_query
                                : j == focused.key && !nothing ? WordState::focused_key
                                                               : WordState::plain;
        draw_query_word(picture, context, {x, base, width, word_height}, j, reading.head(), state, line.size);
        draw_gauge_without_word(picture, reading, focused.row, j,
                                {x, base + word_height + 2, width, vessel_height});
    }
    if (nothing)
        draw_text(picture, context, area.x, base + below - 4, fully_masked_text(context, focused.row),
                  figure::Font::ui, 13.5F, context.theme.text);
    return base + below;
}

} // namespace

Picture draw_arcs_page(const DrawContext& context) {
    Picture picture = empty_view(context);
    const FigureWeights focus = focused_figure_weights(context);
    const float top = draw_weights_head(picture, context, weights_title(context), weights_formula(context));

    std::vector<FigureWeights> figures = figure_weights_of(context);
    const float width = context.width - 2 * canvas_pad;
    const SentenceLine line = line_of(context, canvas_pad, width);
    const bool one_line = line.size > 0;
    const float room = context.height - top - arcs_foot;
    const auto count = static_cast<float>(figures.size());
    const float beside = 32.0F;
    const float each =
        one_line ? (room - (count - 1) * figure_gap) / count : (width - (count - 1) * beside) / count;
    const float least = one_line ? least_figure : columns_width(context);
    const bool all =
        figures.size() == 1 || (static_cast<std::int64_t>(figures.size()) <= most_figures && each >= least);
    float y = top;
    if (!all) {
        y = draw_head_buttons(picture, context, canvas_pad, top, width) + 12;
        figures = {focus};
    }
    const float end = scale_end(context, figures);
    float bottom = y;
    if (one_line) {
        const float height = all ? each : context.height - y - arcs_foot;
        for (const FigureWeights& reading : figures)
            bottom = y =
                draw_line_figure(picture, reading, line, {canvas_pad, y, width, height}, end) + figure_gap;
    } else {
        float x = canvas_pad;
        const float figure = all && figures.size() > 1 ? each : width;
        for (const FigureWeights& reading : figures) {
            const figure::Rect area{x, y, figure, context.height - arcs_foot - y};
            bottom = std::max(bottom, draw_arc_columns(picture, reading, area, end) + figure_gap);
            x += figure + beside;
        }
    }
    const std::string fill = focus.kind() == HeadsView::difference
                                 ? tr("arcs_page.fill_difference", "fill = difference")
                                 : tr("arcs_page.fill_weight", "fill = weight");
    picture.scene.height =
        std::max(picture.scene.height, std::ceil(draw_link_legend(picture, focus, bottom, end, fill)) + 16);
    return picture;
}

} // namespace headscope::app
