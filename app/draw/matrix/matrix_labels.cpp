#include "app/draw/inspector/inspector_sections.h"
#include "app/draw/kit/colour_scale.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/free_space.h"
#include "app/draw/matrix/cell_tags.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float token_label_size = 13.5F;
constexpr float lowest_label_row = 13.0F; ///< in lower rows, labels would touch
constexpr float turned_size = 12.0F;
constexpr float label_gap_left = 12.0F;
constexpr float label_gap_above = 10.0F;
constexpr int longest_label = 10;

std::string label_text(const Problem& problem, bool keys, std::int64_t i) {
    return shortened(keys ? problem.key_label(i) : problem.query_label(i), longest_label);
}

/// The row or column of the current cell in a grid, or of its input cells; -1 if it has none there.
std::int64_t focused_line(const DrawContext& context, const MatrixGrid& grid, bool column) {
    const auto cell = current_cell(context.shown, context.view);
    // An exported figure does not outline a default cell, and its labels are not bold for one.
    if (!cell || (!context.controls && !context.view.focus()))
        return -1;
    if (cell->tensor == grid.tensor)
        if (const auto place = grid.find(cell->at))
            return column ? place->second : place->first;
    for (const ReadSpan& span : reads_of(context.shown, *cell)) {
        if (span.source != grid.tensor)
            continue;
        const auto place = grid.find(span.first);
        const int along = column ? grid.col_axis : grid.row_axis;
        if (place && (span.count == 1 || span.axis != along))
            return column ? place->second : place->first;
    }
    return -1;
}

/// Selects the rows or columns that get a label if not all fit: at least `every` apart. The selected one has
/// priority, then those that a lesson points at.
std::vector<bool> labelled(const DrawContext& context, const MatrixGrid& grid, bool column,
                           std::int64_t every, std::int64_t focused) {
    const std::int64_t count = column ? grid.cols : grid.rows;
    std::vector<bool> out(static_cast<std::size_t>(count), every == 1);
    if (every == 1)
        return out;
    const auto take = [&](std::int64_t i) {
        const auto begin = out.begin() + std::max<std::int64_t>(i - every + 1, 0),
                   end = out.begin() + std::min(i + every, count);
        if (std::find(begin, end, true) == end)
            out[static_cast<std::size_t>(i)] = true;
    };
    // A default cell does not take precedence over what a lesson points at.
    const bool chosen = context.view.focus().has_value();
    if (focused >= 0 && chosen)
        take(focused);
    for (const lesson::CellRange& cells : context.view.points)
        if (const auto part = pointed_part(grid, cells)) {
            const std::int64_t first = column ? part->left : part->top,
                               end = column ? part->right : part->bottom;
            for (std::int64_t i = first; i < end && end - first < count; ++i)
                take(i);
        }
    if (focused >= 0)
        take(focused);
    for (std::int64_t i = 0; i < count; i += every)
        take(i);
    for (std::int64_t i = 0; i < count; ++i) // remaining free positions
        take(i);
    return out;
}

float widest_label(const DrawContext& context, bool keys) {
    const Problem& problem = context.shown.problem();
    const auto count = keys ? problem.dims.Tk : problem.dims.Tq;
    float widest = 0;
    for (std::int64_t i = 0; i < count; ++i)
        widest = std::max(widest, context.measure(label_text(problem, keys, i), figure::Font::ui_semibold,
                                                  token_label_size));
    return widest;
}

constexpr float sample_side = 14, sample_gap = 6;

/// Draws the hatched square with its word next to it or, if that is too wide, as a tooltip.
void draw_masked_sample(Picture& picture, const DrawContext& context, const figure::Point& at, float size,
                        bool with_word) {
    const Theme& theme = context.theme;
    const figure::Rect sample{at.x, at.y, sample_side, sample_side};
    picture.scene.add(figure::RectItem{.area = sample, .fill = theme.panel, .stroke = theme.line2});
    picture.scene.add(
        figure::LineItem{{sample.x, sample.bottom()}, {sample.right(), sample.y}, theme.line2, 1});
    if (with_word)
        draw_text(picture, context, sample.right() + sample_gap, figure::baseline_for(at.y + 7, size),
                  tr("common.masked", "masked"), figure::Font::ui, size, theme.muted);
    else
        picture.tips.push_back({sample, tr("common.masked", "masked")});
}

/// Draws a line at each decade, and numbers at the ends and in the middle.
void draw_log_marks(Picture& picture, const DrawContext& context, const figure::Rect& bar, float high) {
    const auto text = [high](float value) {
        const int before = static_cast<int>(std::floor(std::log10(value) + 1e-4F));
        return number(static_cast<double>(value), std::max(0, -before) + (high == 1 ? 0 : 1));
    };
    const auto label = [&](int decade) {
        return (decade == 0 ? "≤ " : "") +
               text(log_scale_low(high) * std::pow(10.0F, static_cast<float>(decade)));
    };
    const auto wide = [&](int decade) { return context.measure(label(decade), figure::Font::mono, 12); };
    constexpr float apart = 8;
    const float half = bar.w / 2 - wide(2) / 2 - apart; // space on each side of the middle number
    const bool middle = wide(0) <= half && wide(4) <= half, ends = wide(0) + apart + wide(4) <= bar.w;
    for (int decade = 0; decade <= static_cast<int>(log_decades); ++decade) {
        const float share = static_cast<float>(decade) / log_decades;
        const float at = bar.x + share * bar.w, top_of_label = bar.y + 25;
        picture.scene.add(
            figure::LineItem{{at, bar.bottom()}, {at, bar.bottom() + 3}, context.theme.muted, 1});
        if (decade == 4 || (decade == 0 && ends) || (decade == 2 && middle))
            add_text(picture.scene, {at, top_of_label}, label(decade), figure::Font::mono, 12,
                     context.theme.muted,
                     decade == 0   ? figure::Align::left
                     : decade == 4 ? figure::Align::right
                                   : figure::Align::center);
    }
}

/// Adds the label of one token, as a word with a context menu.
void add_label(Picture& picture, const DrawContext& context, const MenuSubject& token, figure::TextItem label,
               bool bold, const figure::Rect& area) {
    const Problem& problem = context.shown.problem();
    const std::string full =
        token.of_second ? problem.key_label(token.token) : problem.query_label(token.token);
    const std::string text = shortened(full, longest_label);
    label.text = text;
    label.font = bold ? figure::Font::ui_semibold : figure::Font::ui;
    label.color = bold ? context.theme.ink : context.theme.text;
    if (!(token.of_second ? problem.kv_tokens : problem.tokens).empty()) { // otherwise the label is a number
        constexpr float around = 3;
        const figure::Rect word = text_area(label, context.measure);
        picture.token_words.push_back(
            {{word.x - around, word.y - around, word.w + 2 * around, word.h + 2 * around}, token});
    }
    picture.scene.add(std::move(label));
    if (text != full)
        picture.tips.push_back({area, full});
}

} // namespace

float row_label_width(const DrawContext& context, bool keys) {
    return std::max(widest_label(context, keys), 24.0F) + label_gap_left;
}

void draw_row_labels(Picture& picture, const DrawContext& context, const MatrixGrid& grid, bool keys) {
    const bool second = keys && context.shown.problem().cross();
    const std::int64_t first = grid.origin[static_cast<std::size_t>(grid.row_axis)];
    const float size = grid.pitch_y < 17.0F ? 12.0F : token_label_size;
    const auto every =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(lowest_label_row / grid.pitch_y)));
    const std::int64_t focused = focused_line(context, grid, false);
    const std::vector<bool> shown = labelled(context, grid, false, every, focused);
    for (std::int64_t i = 0; i < grid.rows; ++i) {
        if (!shown[static_cast<std::size_t>(i)])
            continue;
        const figure::Rect row = grid.cell(i, 0);
        const float center = row.y + row.h / 2;
        add_label(picture, context, {MenuSubject::Kind::token, first + i, second},
                  {.at = {grid.area.x - label_gap_left, figure::baseline_for(center, size)},
                   .size = size,
                   .align = figure::Align::right},
                  i == focused, {grid.area.x - 100, row.y, 88, grid.pitch_y});
    }
}

bool column_labels_turned(const DrawContext& context, float pitch, bool keys) {
    return widest_label(context, keys) + 6.0F > pitch;
}

float column_label_height(const DrawContext& context, float pitch, bool keys) {
    if (!column_labels_turned(context, pitch, keys))
        return 26.0F;
    return 14.0F + 0.87F * widest_label(context, keys) * turned_size / token_label_size;
}

void draw_column_labels(Picture& picture, const DrawContext& context, const MatrixGrid& grid, bool keys) {
    const bool second = keys && context.shown.problem().cross();
    const bool turned = column_labels_turned(context, grid.pitch_x, keys);
    const float size = turned ? turned_size : token_label_size;
    const std::int64_t first = grid.origin[static_cast<std::size_t>(grid.col_axis)];
    const auto every =
        turned ? std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(14.0F / grid.pitch_x)))
               : std::int64_t{1};
    const std::int64_t focused = focused_line(context, grid, true);
    const std::vector<bool> shown = labelled(context, grid, true, every, focused);
    for (std::int64_t j = 0; j < grid.cols; ++j) {
        if (!shown[static_cast<std::size_t>(j)])
            continue;
        const figure::Rect top = grid.cell(0, j);
        const float center = top.x + top.w / 2;
        const figure::Point at = turned ? figure::Point{center + 3.0F, grid.area.y - 6.0F}
                                        : figure::Point{center, grid.area.y - label_gap_above};
        add_label(picture, context, {MenuSubject::Kind::token, first + j, second},
                  {.at = at,
                   .size = size,
                   .align = turned ? figure::Align::left : figure::Align::center,
                   .angle = turned ? -60.0F : 0.0F},
                  j == focused, {top.x, grid.area.y - 30, top.w, 28});
    }
}

void draw_head_bar(Picture& picture, const DrawContext& context, std::int64_t head, float x, float y,
                   float width) {
    const figure::Color color = context.head_colours(head).colour;
    if (context.shown.problem().gain(head) == 0.0F)
        picture.scene.add(figure::RectItem{.area = {x, y, width, 4}, .stroke = color});
    else
        picture.scene.add(figure::RectItem{.area = {x, y, width, 4}, .fill = color});
    if (!context.controls)
        return;
    const bool off = context.shown.problem().gain(head) == 0.0F;
    picture.add_hotspot({x, y - 4, width, 11},
                        "ablate head " + std::to_string(head) + " " + std::to_string(picture.hotspots.size()),
                        SetGain{head, off ? 1.0F : 0.0F},
                        off ? tr("common.switch_head_again", "Restore head {}", head)
                            : tr("common.switch_head_ablate", "Ablate head {}", head));
}

void draw_head_bars(Picture& picture, const DrawContext& context, const MatrixGrid& grid,
                    std::int64_t head_width, bool kv) {
    const Dims& dims = context.dims();
    const std::int64_t heads = kv ? dims.Hkv : dims.H;
    const std::int64_t shared = kv ? dims.H / dims.Hkv : 1;
    // The grid may be a part of the matrix and start or end inside a head's columns.
    const std::int64_t begin = grid.origin[static_cast<std::size_t>(grid.col_axis)], end = begin + grid.cols;
    for (std::int64_t g = begin / head_width; g < heads && g * head_width < end; ++g) {
        const std::int64_t first = std::max(g * head_width, begin),
                           last = std::min((g + 1) * head_width, end);
        const float x = grid.area.x + grid.pitch_x * static_cast<float>(first - begin);
        const float width = grid.pitch_x * static_cast<float>(last - first) - (last < end ? 1.0F : grid.gap);
        // Writes the head's name at the end of its bar if it fits, because color alone does not identify it.
        constexpr float name_size = 11, gap = 4, air = 3;
        const float shortest_bar = shared > 1 ? 6 : 14;
        const std::string name = (shared > 1 ? "KV" : "H") + std::to_string(g);
        const float wide = context.measure(name, figure::Font::ui_medium, name_size) + gap;
        const bool named = width >= wide + shortest_bar * static_cast<float>(shared);
        const float bars = named ? width - wide : width;
        // A key/value head that several query heads share has the colors of all of them.
        for (std::int64_t s = 0; s < shared; ++s) {
            const float piece = bars / static_cast<float>(shared);
            draw_head_bar(picture, context, g * shared + s, x + piece * static_cast<float>(s),
                          grid.area.y - 8, piece);
        }
        if (named) {
            draw_text(picture, context, x + bars + gap, grid.area.y - air, name, figure::Font::ui_medium,
                      name_size, context.theme.text);
            if (shared > 1)
                picture.tips.push_back(
                    {{x + bars, grid.area.y - 14, wide, 14},
                     tr("matrix_labels.key_value_head_heads", "Key/value head {}: heads {} to {} read it", g,
                        g * shared, (g + 1) * shared - 1)});
        }
    }
}

void draw_legend(Picture& picture, const DrawContext& context, float x, float y, float width,
                 const Ramp& ramp, float low, float high, const std::string& what, bool masked, bool log,
                 float room) {
    const Theme& theme = context.theme;
    constexpr float size = 12.5F, mark_size = 12, before = 16, apart = 8;
    const float sample_width =
        masked ? sample_side + sample_gap +
                     context.measure(tr("common.masked", "masked"), figure::Font::ui, size)
               : 0;
    const auto wide = [&](const std::string& words) {
        return context.measure(words, figure::Font::ui, size);
    };
    const auto beside = [&](const std::string& words) {
        return width + before + wide(words) + (masked ? 20 + sample_width : 0) <= room;
    };
    const std::string short_words = what.substr(0, what.find(','));
    const std::string& words = beside(what) ? what : short_words;
    const bool under = width + before + std::max(wide(words), sample_width) > room;
    const float span = high - low;
    const int decimals = span >= 20 ? 0 : span >= 2 ? 1 : span >= 0.18F ? 2 : span >= 0.018F ? 3 : 4;
    const auto mark = [&](float value) {
        const int digits = value == std::round(value) ? 0 : decimals;
        return context.difference() && low < 0 ? signed_number(value, digits) : number(value, digits);
    };
    const std::string marks[] = {mark(low), mark((low + high) / 2), mark(high)};
    const auto mark_width = [&](int n) { return context.measure(marks[n], figure::Font::mono, mark_size); };
    // Text between the ends may use the sample's space; the sample is drawn if space remains.
    if (under && !log)
        width =
            std::clamp(mark_width(0) + wide(words) + mark_width(2) + 2 * apart, width, std::max(width, room));

    auto pixels = std::make_shared<std::vector<figure::Color>>(ramp.begin(), ramp.end());
    std::uint64_t key = 1469598103934665603ULL;
    for (const figure::Color pixel : *pixels)
        key = (key ^ pixel) * 1099511628211ULL;
    const figure::Rect bar{x, y, width, 10};
    picture.scene.add(
        figure::GridItem{.area = bar, .cols = 256, .rows = 1, .pixels = std::move(pixels), .key = key});
    picture.scene.add(figure::RectItem{.area = bar, .stroke = theme.line2});
    const auto write = [&](float at, const std::string& text, figure::Font font, float text_size,
                           figure::Align align) {
        add_text(picture.scene, {at, y + 25}, text, font, text_size, theme.muted, align);
    };
    if (log) {
        draw_log_marks(picture, context, bar, high);
    } else {
        write(x, marks[0], figure::Font::mono, mark_size, figure::Align::left);
        write(x + width, marks[2], figure::Font::mono, mark_size, figure::Align::right);
        // The center of the space between the ends.
        const float middle = x + (width + mark_width(0) - mark_width(2)) / 2;
        if (under)
            write(middle, words, figure::Font::ui, size, figure::Align::center);
        else if (const float half = width / 2 - mark_width(1) / 2 - apart;
                 mark_width(0) <= half && mark_width(2) <= half)
            write(x + width / 2, marks[1], figure::Font::mono, mark_size, figure::Align::center);
    }
    const float after = x + width + before;
    if (under && log)
        draw_text(picture, context, x, y + 43, words, figure::Font::ui, size, theme.muted);
    else if (!under)
        draw_text(picture, context, after, figure::baseline_for(y + 5, size), words, figure::Font::ui, size,
                  theme.muted);
    if (!masked)
        return;
    if (under)
        draw_masked_sample(picture, context, {x + width + apart, y - 2}, size,
                           width + apart + sample_width <= room);
    else if (beside(words))
        draw_masked_sample(picture, context, {after + 20 + wide(words), y - 2}, size, true);
    else
        draw_masked_sample(picture, context, {after, y + 15}, size, true);
}

} // namespace headscope::app
