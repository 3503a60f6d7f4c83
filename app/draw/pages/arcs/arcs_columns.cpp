#include "app/draw/pages/arcs/arcs_columns.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/pages/links.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float caption_height = 26.0F;
constexpr float closest_rows = 22.0F, widest_rows = 40.0F;
constexpr float least_between = 110.0F, most_between = 380.0F;
constexpr float track_width = 70.0F, number_width = 46.0F;

float word_width(const DrawContext& context, bool keys) {
    return widest_word(context, keys, 13.5F) + 16;
}

/// Draws one weight as a bar in a track, with its number. A difference fills the track from its center, any
/// other weight from the left.
void draw_track(Picture& picture, const FigureWeights& reading, std::int64_t i, std::int64_t j, float x,
                float center) {
    const DrawContext& context = reading.context();
    const Theme& theme = context.theme;
    const figure::Rect track{x, center - 6, track_width, 12};
    reading.add_cell(picture, i, j, {x - 2, center - 9, track_width + number_width + 4, 18}, 1);
    if (reading.masked(i, j)) {
        draw_hatched(picture, theme, track);
        return;
    }
    const float value = reading.at(i, j), size = std::min(std::abs(value), 1.0F);
    picture.scene.add(figure::RectItem{.area = track, .fill = theme.cell});
    if (reading.kind() == HeadsView::difference) {
        const float middle = x + track_width / 2, length = size * track_width / 2;
        picture.scene.add(
            figure::RectItem{.area = {value < 0 ? middle - length : middle, track.y, length, track.h},
                             .fill = reading.line_color(value)});
        picture.scene.add(
            figure::RectItem{.area = {middle - 0.5F, track.y - 1, 1, track.h + 2}, .fill = theme.muted});
    } else {
        picture.scene.add(figure::RectItem{.area = {x, track.y, std::max(size * track_width, 1.0F), track.h},
                                           .fill = reading.line_color(value)});
    }
    const bool bold = j == reading.largest(i);
    draw_text(picture, context, x + track_width + number_width, figure::baseline_for(center, 12),
              reading.text(value), bold ? figure::Font::mono_semibold : figure::Font::mono, 12,
              bold ? theme.ink : theme.text, figure::Align::right);
}

/// The positions of the tokens in one column.
struct TokenColumn {
    float top = 0, pitch = 0;
    float center(std::int64_t n) const { return top + pitch * (static_cast<float>(n) + 0.5F); }
    float bottom(std::int64_t count) const { return top + pitch * static_cast<float>(count); }
};

TokenColumn column_of(std::int64_t count, float top, float room) {
    const auto rows = static_cast<float>(count);
    return {top, std::clamp(std::floor(room / rows), closest_rows, widest_rows)};
}

} // namespace

float columns_width(const DrawContext& context) {
    return word_width(context, false) + least_between + word_width(context, true) + 8 + track_width +
           number_width + 4;
}

float draw_arc_columns(Picture& picture, const FigureWeights& reading, const figure::Rect& area, float end) {
    const DrawContext& context = reading.context();
    const Dims& dims = context.dims();
    const FocusedCell focused = focused_cell(context);
    const float queries = word_width(context, false), keys = word_width(context, true);
    const float fixed = queries + keys + 8 + track_width + number_width + 4;
    const float between = std::clamp(area.w - fixed, least_between, most_between);
    const float width = fixed + between;
    const float left = area.x + queries, right = left + between;
    const float track = right + keys + 8;
    draw_figure_title(picture, reading, area.x, area.y, width);

    const float caption = area.y + arcs_title_height + 14;
    const std::string word = shortened(context.shown.problem().query_label(focused.row), longest_word);
    draw_text(picture, context, left, caption, tr("common.query_2", "query"), figure::Font::ui, 12,
              context.theme.muted, figure::Align::right);
    draw_text(picture, context, right + 8, caption, tr("common.key", "key"), figure::Font::ui, 12,
              context.theme.muted);
    draw_text(picture, context, track + track_width + number_width, caption,
              tr("arcs_columns.reads", "{} reads", word), figure::Font::ui, 12, context.theme.muted,
              figure::Align::right);

    const float top = area.y + arcs_title_height + caption_height;
    const TokenColumn query_rows = column_of(dims.Tq, top, area.bottom() - top);
    const TokenColumn key_rows = column_of(dims.Tk, top, area.bottom() - top);
    const float height = std::min(26.0F, std::min(query_rows.pitch, key_rows.pitch) - 2);
    const float size = height < 22 ? 12.5F : 13.5F;
    draw_links(picture, reading, links_of(reading, focused.row), end, false, [&](const Link& link) {
        const float from = query_rows.center(link.i), to = key_rows.center(link.j);
        return figure::CurveItem{.from = {left + 3, from},
                                 .control_from = {left + between * 0.42F, from},
                                 .control_to = {right - between * 0.42F, to},
                                 .to = {right - 3, to}};
    });
    for (std::int64_t i = 0; i < dims.Tq; ++i)
        draw_query_word(picture, context, {area.x, query_rows.center(i) - height / 2, queries, height}, i,
                        reading.head(), i == focused.row ? WordState::focused_query : WordState::plain, size);
    const bool nothing = reading.is_fully_masked(focused.row);
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        const float center = key_rows.center(j);
        draw_key_word(picture, context, {right, center - height / 2, keys, height}, j,
                      j == focused.key && !nothing ? WordState::focused_key : WordState::plain, size,
                      figure::Align::left);
        draw_track(picture, reading, focused.row, j, track, center);
    }
    float bottom = std::max(query_rows.bottom(dims.Tq), key_rows.bottom(dims.Tk));
    if (nothing) {
        bottom = draw_paragraph(picture, context, area.x, bottom + 12, width,
                                fully_masked_text(context, focused.row) + ".", figure::Font::ui, 13.5F, 20,
                                context.theme.text) -
                 14;
    }
    picture.scene.width = std::max(picture.scene.width, area.x + width + canvas_pad);
    return bottom;
}

} // namespace headscope::app
