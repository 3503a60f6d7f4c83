#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/links.h"
#include "app/draw/pages/pages.h"
#include "app/draw/pages/weight_parts.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope::app {

namespace {

constexpr float graph_foot = 84.0F;     ///< legend below the graph
constexpr float node_pitch = 15.0F;     ///< distance between the closest labels
constexpr std::int64_t most_level = 14; ///< with more tokens on the circle, labels are rotated outward
constexpr float loop_size = 22.0F;
constexpr float node_label_size = 13.5F;
constexpr float label_height = 38.0F; ///< height of a word with its number
constexpr float word_air = 14.0F;     ///< horizontal padding of a word on its chip, both sides together

/// The positions of the graph's nodes, and the distance of their labels.
struct Ring {
    figure::Point center;
    float radius = 0, node = 0, label_gap = 0;
    std::int64_t count = 0;
    bool turned = false;

    float angle(std::int64_t n) const {
        return (static_cast<float>(n) / static_cast<float>(count) - 0.25F) * 2 * std::numbers::pi_v<float>;
    }
    figure::Point at(std::int64_t n, float distance) const {
        return {center.x + distance * std::cos(angle(n)), center.y + distance * std::sin(angle(n))};
    }
};

figure::Rect around(figure::Point center, float w, float h) {
    return {center.x - w / 2, center.y - h / 2, w, h};
}

figure::Point toward(figure::Point from, figure::Point to, float distance) {
    const float dx = to.x - from.x, dy = to.y - from.y;
    const float length = std::max(std::hypot(dx, dy), 1e-3F);
    return {from.x + dx / length * distance, from.y + dy / length * distance};
}

/// A line between two nodes, bent to its left, so that two words that attend to each other have two lines.
figure::CurveItem bent(figure::Point from, figure::Point to, float node, float bend) {
    const float dx = to.x - from.x, dy = to.y - from.y;
    const figure::Point by{dy * bend, -dx * bend};
    const figure::Point a{from.x + dx * 0.3F + by.x, from.y + dy * 0.3F + by.y};
    const figure::Point b{from.x + dx * 0.7F + by.x, from.y + dy * 0.7F + by.y};
    return {
        .from = toward(from, a, node + 1), .control_from = a, .control_to = b, .to = toward(to, b, node + 2)};
}

figure::CurveItem loop(const Ring& ring, std::int64_t n) {
    const float spread = 0.75F, angle = ring.angle(n);
    const figure::Point node = ring.at(n, ring.radius);
    const auto out = [&](float turn, float distance) {
        return figure::Point{node.x + distance * std::cos(angle + turn),
                             node.y + distance * std::sin(angle + turn)};
    };
    return {.from = out(-spread, ring.node),
            .control_from = out(-spread, ring.node + loop_size),
            .control_to = out(spread, ring.node + loop_size),
            .to = out(spread, ring.node + 2)};
}

/// Draws a node in the color of its weight in the focused row. The query of that row has a ring in ink.
/// `hovered`: the node is hoverable; false if its loop is hoverable instead.
void draw_node(Picture& picture, const FigureWeights& reading, std::int64_t row, std::int64_t j,
               figure::Point center, float radius, bool ring, bool hovered, float end) {
    const DrawContext& context = reading.context();
    const Theme& theme = context.theme;
    const figure::Rect area = around(center, 2 * radius, 2 * radius);
    const bool masked = reading.masked(row, j);
    const figure::Color fill = masked ? theme.panel : reading.cell_color(reading.at(row, j), end);
    picture.scene.add(figure::RectItem{.area = area,
                                       .fill = fill,
                                       .stroke = ring ? theme.ink : theme.line2,
                                       .stroke_width = ring ? 2.5F : 1.0F,
                                       .radius = radius});
    if (masked) {
        const float d = radius * 0.7F;
        picture.scene.add(
            figure::LineItem{{center.x - d, center.y + d}, {center.x + d, center.y - d}, theme.line2, 1});
    }
    // Larger than the node, so that the outline does not cover it.
    if (hovered)
        reading.add_cell(picture, row, j, around(center, 2 * radius + 6, 2 * radius + 6), end);
}

/// Draws the word and, if there is space, its weight in the focused row below it.
void draw_ring_label(Picture& picture, const FigureWeights& reading, const Ring& ring, std::int64_t row,
                     std::int64_t n, WordState state) {
    const DrawContext& context = reading.context();
    const std::int64_t head = reading.head();
    const Problem& problem = context.shown.problem();
    const float distance = ring.radius + ring.node + ring.label_gap;
    const std::string word = shortened(problem.query_label(n), longest_word);
    const float width = context.measure(word, figure::Font::ui_semibold, node_label_size) + 12;
    if (!ring.turned) {
        const figure::Point at = ring.at(n, distance);
        const float c = std::cos(ring.angle(n)), v = std::sin(ring.angle(n));
        const figure::Point middle{at.x + c * width / 2, at.y + v * label_height / 2};
        draw_query_word(picture, context, around({middle.x, middle.y - 8}, width, 22), n, head, state,
                        node_label_size);
        if (!reading.masked(row, n))
            draw_text(picture, context, middle.x, middle.y + 16, reading.text(reading.at(row, n)),
                      figure::Font::mono, 12, context.theme.text, figure::Align::center);
        return;
    }
    const Theme& theme = context.theme;
    const float degrees = ring.angle(n) * 180 / std::numbers::pi_v<float>;
    const bool flipped = std::cos(ring.angle(n)) < -1e-3F;
    const float turn = flipped ? degrees + 180 : degrees;
    // Shifts the baseline so that the middle of the letters is on the ray.
    const figure::Point at = ring.at(n, distance);
    const float down = 0.364F * 12, radians = turn * std::numbers::pi_v<float> / 180;
    add_text(picture.scene, {at.x - down * std::sin(radians), at.y + down * std::cos(radians)}, word,
             state == WordState::plain ? figure::Font::ui : figure::Font::ui_semibold, 12,
             state == WordState::plain ? theme.text : theme.ink,
             flipped ? figure::Align::right : figure::Align::left, turn);
    const float along = distance + std::min(width, 36.0F) / 2;
    const figure::Rect spot = around(ring.at(n, along), 14, 14);
    add_query_spot(picture, context, spot, n, head);
    if (word != problem.query_label(n))
        picture.tips.push_back({spot, problem.query_label(n)});
}

/// Draws the graph of one sentence as a circle. Returns the lower edge.
float draw_ring(Picture& picture, const FigureWeights& reading, const figure::Rect& area, float end) {
    const DrawContext& context = reading.context();
    const FocusedCell focused = focused_cell(context);
    const std::vector<Link> links = links_of(reading, focused.row);
    Ring ring;
    ring.count = context.dims().Tq;
    ring.turned = ring.count > most_level;
    ring.node = ring.turned ? 5.0F : 10.0F;
    ring.label_gap = loop_size * 0.8F + 4;
    const float outside = ring.node + ring.label_gap +
                          (ring.turned ? widest_word(context, false, 12) + word_air + 4 : label_height + 2);
    const float inner = static_cast<float>(ring.count) * node_pitch / (2 * std::numbers::pi_v<float>);
    ring.radius = std::max({std::min(area.h / 2 - outside, 300.0F), inner, 70.0F});
    ring.center = {area.x + area.w / 2, area.y + outside + ring.radius};
    draw_links(picture, reading, links, end, true, [&](const Link& link) {
        if (link.i == link.j)
            return loop(ring, link.i);
        return bent(ring.at(link.i, ring.radius), ring.at(link.j, ring.radius), ring.node, 0.14F);
    });
    const bool nothing = reading.is_fully_masked(focused.row);
    for (std::int64_t n = 0; n < ring.count; ++n) {
        const bool loops = n == focused.row && std::ranges::any_of(links, [&](const Link& link) {
                               return link.i == n && link.j == n;
                           });
        draw_node(picture, reading, focused.row, n, ring.at(n, ring.radius), ring.node, n == focused.row,
                  !loops, end);
        const WordState state = n == focused.row               ? WordState::focused_query
                                : n == focused.key && !nothing ? WordState::focused_key
                                                               : WordState::plain;
        draw_ring_label(picture, reading, ring, focused.row, n, state);
    }
    return ring.center.y + ring.radius + outside;
}

/// One row of tokens in a graph between two sentences.
struct TokenRow {
    float left = 0, pitch = 0, y = 0;
    float right(std::int64_t count) const { return left + pitch * static_cast<float>(count); }
    figure::Point at(std::int64_t n) const { return {left + pitch * (static_cast<float>(n) + 0.5F), y}; }
};

/// Draws the graph of cross-attention: queries above, keys below. Returns the lower edge.
float draw_rows(Picture& picture, const FigureWeights& reading, const figure::Rect& area, float end) {
    const DrawContext& context = reading.context();
    const Dims& dims = context.dims();
    const FocusedCell focused = focused_cell(context);
    const auto row_of = [&](bool keys, float y) {
        const auto count = static_cast<float>(keys ? dims.Tk : dims.Tq);
        const float pitch =
            std::clamp(area.w / count, widest_word(context, keys, node_label_size) + word_air, 150.0F);
        return TokenRow{area.x + std::max(0.0F, (area.w - pitch * count) / 2), pitch, y};
    };
    const float between = std::clamp(area.h - 150, 140.0F, 360.0F);
    const TokenRow queries = row_of(false, area.y + 64), keys = row_of(true, area.y + 64 + between);
    constexpr float node = 8;
    const Problem& problem = context.shown.problem();
    const auto chip = [&](const std::string& word) {
        return context.measure(shortened(word, longest_word), figure::Font::ui_semibold, node_label_size) +
               12;
    };
    const figure::Color muted = context.theme.muted;
    draw_text(picture, context, area.x, area.y + 14, tr("graph_page.queries", "queries"), figure::Font::ui,
              12.5F, muted);
    draw_links(picture, reading, links_of(reading, focused.row), end, false, [&](const Link& link) {
        const figure::Point from = queries.at(link.i), to = keys.at(link.j);
        return figure::CurveItem{.from = {from.x, from.y + node + 1},
                                 .control_from = {from.x, from.y + between * 0.45F},
                                 .control_to = {to.x, to.y - between * 0.45F},
                                 .to = {to.x, to.y - node - 2}};
    });
    for (std::int64_t i = 0; i < dims.Tq; ++i) {
        const figure::Point at = queries.at(i);
        const bool here = i == focused.row;
        picture.scene.add(figure::RectItem{.area = around(at, 2 * node, 2 * node),
                                           .fill = here ? context.theme.ink : context.theme.cell,
                                           .stroke = context.theme.line2,
                                           .radius = node});
        draw_query_word(picture, context, around({at.x, at.y - node - 18}, chip(problem.query_label(i)), 24),
                        i, reading.head(), here ? WordState::focused_query : WordState::plain,
                        node_label_size);
    }
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        const figure::Point at = keys.at(j);
        draw_node(picture, reading, focused.row, j, at, node, false, true, end);
        draw_key_word(picture, context, around({at.x, at.y + node + 18}, chip(problem.key_label(j)), 24), j,
                      j == focused.key ? WordState::focused_key : WordState::plain, node_label_size,
                      figure::Align::center);
        if (!reading.masked(focused.row, j))
            draw_text(picture, context, at.x, at.y + node + 44, reading.text(reading.at(focused.row, j)),
                      figure::Font::mono, 12, context.theme.text, figure::Align::center);
    }
    draw_text(picture, context, area.x, keys.y + 78, tr("graph_page.keys", "keys"), figure::Font::ui, 12.5F,
              muted);
    const float right = std::max(queries.right(dims.Tq), keys.right(dims.Tk));
    picture.scene.width = std::max(picture.scene.width, right + canvas_pad);
    return keys.y + 86;
}

} // namespace

Picture draw_graph_page(const DrawContext& context) {
    Picture picture;
    picture.scene.width = context.width;
    const FigureWeights reading = focused_figure_weights(context);
    const float width = context.width - 2 * canvas_pad;
    float y = draw_weights_head(picture, context, weights_title(context), weights_formula(context));
    const bool buttons = !context.shown.document->has_head_grid(); // the grid of heads selects heads
    if (buttons && context.view.heads_view == HeadsView::each && context.dims().H > 1)
        y = draw_head_buttons(picture, context, canvas_pad, y, width) + 8;
    draw_figure_title(picture, reading, canvas_pad, y, width);
    y += 34;
    const float end = scale_end(context, {reading});
    const figure::Rect area{canvas_pad, y, width, context.height - graph_foot - y - 28};
    y = context.shown.problem().cross() ? draw_rows(picture, reading, area, end)
                                        : draw_ring(picture, reading, area, end);
    const std::int64_t row = focused_cell(context).row;
    if (reading.is_fully_masked(row)) {
        draw_text(picture, context, canvas_pad, y + 14, fully_masked_text(context, row) + ".",
                  figure::Font::ui, 13.5F, context.theme.text);
        y += 22;
    }
    y = draw_link_legend(picture, reading, y + 6, end, {}) + 8;
    const bool difference = reading.kind() == HeadsView::difference;
    const bool log = reading.log_colours();
    draw_legend(picture, context, canvas_pad, y, log ? 180 : 160, reading.ramp(), difference ? -end : 0, end,
                difference ? tr("graph_page.colour_key_difference", "color of a key = difference")
                : log      ? tr("graph_page.colour_key_weight_log", "color of a key = weight, log scale")
                           : tr("graph_page.colour_key_weight", "color of a key = weight"),
                false, log);
    picture.scene.height = std::max(context.height, std::ceil(y) + 42);
    return picture;
}

} // namespace headscope::app
