#include "app/draw/arcs_columns.h"
#include "app/draw/controls.h"
#include "app/draw/format.h"
#include "app/draw/links.h"
#include "app/draw/pages.h"
#include "app/draw/weight_parts.h"

#include <algorithm>
#include <cmath>

namespace headscope {

namespace {

constexpr float top = 96.0F;
constexpr float title_height = 34.0F;
constexpr float word_height = 26.0F;
constexpr float gauge_height = 28.0F;
constexpr float foot = 72.0F; ///< legend below the figures
constexpr float figure_gap = 20.0F;
constexpr float least_figure = 170.0F;
constexpr std::int64_t most_figures = 4;

/// The sentence on one line: where each token stands.
struct Line {
    std::vector<float> centers, widths;
    float size = 0; ///< of the words; 0: the sentence does not fit
    float begin = 0, end = 0;
};

Line line_of(const DrawContext& context, float left, float room) {
    const Problem& problem = context.shown.problem();
    if (problem.cross())
        return {};
    for (const float size : {13.5F, 12.5F}) {
        Line line;
        float natural = 0;
        for (std::int64_t j = 0; j < problem.dims.Tk; ++j) {
            const std::string word = shortened(problem.key_label(j), longest_word);
            line.widths.push_back(std::max(context.measure(word, Font::ui_semibold, size) + 16, 44.0F));
            natural += line.widths.back();
        }
        const auto gaps = static_cast<float>(problem.dims.Tk - 1);
        if (natural + 4 * gaps > room)
            continue;
        // Spare room widens the chips a little, then the gaps.
        const auto count = static_cast<float>(problem.dims.Tk);
        const float wider = std::clamp((room - natural - 12 * gaps) / count, 0.0F, 24.0F);
        for (float& width : line.widths)
            width += wider;
        natural += wider * count;
        const float gap = gaps > 0 ? std::min((room - natural) / gaps, 110.0F) : 0;
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

CurveItem arc(const Line& line, const Link& link, float base, float room) {
    const float from = line.centers[static_cast<std::size_t>(link.i)];
    if (link.i == link.j) {
        const float rise = std::min(38.0F, room / 0.75F);
        return {.from = {from - 6, base},
                .control_from = {from - 24, base - rise},
                .control_to = {from + 24, base - rise},
                .to = {from + 6, base}};
    }
    // It arrives on the query's side of the key, so that two words that read each other have two arcs.
    const float side = link.i > link.j ? 1.0F : -1.0F;
    const float to = line.centers[static_cast<std::size_t>(link.j)] + side * 9;
    const float span = std::max(line.end - line.begin, 1.0F);
    const float rise =
        std::max(room * std::pow(std::abs(to - from) / span, 0.8F), std::min(30.0F, room)) / 0.75F;
    return {.from = {from, base},
            .control_from = {from, base - rise},
            .control_to = {to, base - rise},
            .to = {to, base}};
}

/// Returns the y below.
float draw_line_figure(Picture& picture, const Reading& reading, const Line& line, const Rect& area,
                       float end) {
    const DrawContext& context = reading.context();
    const SpokenPlace spoken = spoken_place(context);
    const bool nothing = reading.reads_nothing(spoken.row);
    draw_figure_title(picture, reading, area.x, area.y, area.w);
    const float below = word_height + 2 + gauge_height;
    const float room = std::clamp(area.h - title_height - below - 8, 24.0F, 0.34F * area.w);
    const float base = area.y + title_height + 8 + room;
    draw_links(picture, reading, links_of(reading, spoken.row), end,
               [&](const Link& link) { return arc(line, link, base - 1, room); });
    for (std::int64_t j = 0; j < context.dims().Tk; ++j) {
        const float width = line.widths[static_cast<std::size_t>(j)];
        const float x = line.centers[static_cast<std::size_t>(j)] - width / 2;
        const WordState state = j == spoken.row               ? WordState::spoken
                                : j == spoken.key && !nothing ? WordState::marked
                                                              : WordState::plain;
        draw_query_word(picture, context, {x, base, width, word_height}, j, reading.head(), state, line.size);
        draw_gauge(picture, reading, spoken.row, j, {x, base + word_height + 2, width, gauge_height});
    }
    if (nothing)
        draw_text(picture, context, area.x, base - 10, reads_nothing_text(context, spoken.row), Font::ui,
                  13.5F, context.theme.text);
    return base + below;
}

} // namespace

Picture draw_arcs_page(const DrawContext& context) {
    Picture picture;
    picture.scene.width = context.width;
    picture.scene.height = context.height;
    const Reading focus = reading_in_focus(context);
    const bool difference = focus.kind() == HeadsView::difference;
    draw_page_head(picture, context, "Attention weights",
                   difference ? "" : "an arc from each query to what it reads");
    draw_weights_switches(picture, context);

    std::vector<Reading> figures = readings_of(context);
    const float width = context.width - 2 * canvas_pad;
    const Line line = line_of(context, canvas_pad, width);
    const bool one_line = line.size > 0;
    const float room = context.height - top - foot;
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
        const float height = all ? each : context.height - y - foot;
        for (const Reading& reading : figures)
            bottom = y =
                draw_line_figure(picture, reading, line, {canvas_pad, y, width, height}, end) + figure_gap;
    } else {
        float x = canvas_pad;
        const float figure = all && figures.size() > 1 ? each : width;
        for (const Reading& reading : figures) {
            const Rect area{x, y, figure, context.height - foot - y};
            bottom = std::max(bottom, draw_arc_columns(picture, reading, area, end) + figure_gap);
            x += figure + beside;
        }
    }
    picture.scene.height =
        std::max(picture.scene.height, draw_link_legend(picture, focus, bottom, end, true) + 16);
    return picture;
}

} // namespace headscope
