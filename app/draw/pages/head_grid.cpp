#include "app/draw/kit/colour_scale.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/stack_names.h"
#include "app/draw/matrix/edit_marks.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/attention_pages.h"
#include "app/state/model_document.h"
#include "core/analysis/pool.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace headscope::app {

namespace {

constexpr float grid_top = 118.0F;                        ///< top of the first row
constexpr float stack_switch = 92.0F, stack_room = 44.0F; ///< top of the switch, and its height
constexpr float grid_pad = 24.0F;
constexpr float layer_label_width = 34.0F; ///< "L11"
constexpr float map_gap = 8.0F;            ///< between maps
constexpr float letter_height = 16.0F;
constexpr float smallest_grid_map = 14.0F, largest_map = 112.0F;
constexpr float legend_foot = 70.0F, log_words_foot = 18.0F, marks_foot = 26.0F, letters_foot = 40.0F;
constexpr float lettered_from = 18.0F;
constexpr float before_means = 10.0F; ///< extra space between the set's own heads and their means

/// The positions of the maps in the grid of heads.
struct Grid {
    std::int64_t L = 0, H = 0, own_L = 0, own_H = 0;
    float left = 0, top = 0, map_w = 0, map_h = 0;
    bool lettered = false;
    float pitch_x() const { return map_w + map_gap; }
    float pitch_y() const { return map_h + map_gap + (lettered ? letter_height : 0.0F); }
    figure::Rect map(std::int64_t l, std::int64_t h) const {
        return {left + pitch_x() * static_cast<float>(h) + (h >= own_H ? before_means : 0),
                top + pitch_y() * static_cast<float>(l) + (l >= own_L ? before_means : 0), map_w, map_h};
    }
    float right() const { return map(0, H - 1).right(); }
    float bottom() const { return map(L - 1, 0).y + pitch_y(); }
};

/// The height of the legends, including the line for edit marks if the document can have edits.
float foot_of(const DrawContext& context) {
    return legend_foot + letters_foot + (context.log_colours() ? log_words_foot : 0.0F) +
           (context.shown.document->is_checkpoint() ? marks_foot : 0.0F);
}

/// Returns true if the grid of heads shows one of the three stacks of an encoder-decoder.
bool has_stacks(const DrawContext& context) {
    const Document& document = *context.shown.document;
    return document.is_checkpoint() && document.part()->two_texts();
}

/// Maps are as large as the width allows, or smaller if all rows then fit on screen.
Grid grid_of(const DrawContext& context) {
    const AttentionInfo& info = context.head_grid->info();
    Grid grid{.L = info.L,
              .H = info.H,
              .own_L = info.own_layers(),
              .own_H = info.own_heads(),
              .left = grid_pad + layer_label_width,
              .top = grid_top + (has_stacks(context) ? stack_room : 0)};
    const float room = context.width - grid.left - grid_pad - (info.own_heads() < info.H ? before_means : 0);
    const auto rows = static_cast<float>(info.L);
    const float tall = static_cast<float>(info.Tq) / static_cast<float>(info.Tk);
    const float across = room / static_cast<float>(info.H) - map_gap;
    const float down =
        ((context.height - grid.top - foot_of(context) - (info.mean_layer ? before_means : 0)) / rows -
         map_gap - letter_height) /
        tall;
    constexpr float readable = 22.0F;
    float map = std::min(across, std::max(down, readable));
    map = std::floor(std::clamp(map, smallest_grid_map, largest_map));
    const auto weights = static_cast<float>(std::max(info.Tq, info.Tk));
    // A whole number of pixels per weight looks even, but is worth only a small loss of size.
    constexpr float worth = 0.85F;
    if (const float even = std::floor(map / weights) * weights; even >= worth * map)
        map = even;
    grid.map_w = map;
    grid.map_h = std::floor(std::clamp(map * tall, 6.0F, 2 * largest_map));
    grid.lettered = map >= lettered_from;
    return grid;
}

std::int64_t row_at(const Grid& grid, float y) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor((y - grid.top) / grid.pitch_y())), 0,
                                    grid.L - 1);
}

/// Paints one map. Each pixel shows the largest of its weights.
void paint_map(std::vector<figure::Color>& pixels, std::int64_t stride, std::int64_t left,
               const analysis::HeadMap& map, std::int64_t rows, std::int64_t cols, const Ramp& ramp,
               float high, bool log, figure::Color nothing) {
    const std::int64_t pooled_rows = std::min(rows, map.rows), pooled_cols = std::min(cols, map.cols);
    const std::vector<float> values =
        analysis::max_pool(map.largest, map.rows, map.cols, pooled_rows, pooled_cols);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
            const float value = values[static_cast<std::size_t>(r * pooled_rows / rows * pooled_cols +
                                                                c * pooled_cols / cols)];
            pixels[static_cast<std::size_t>(r * stride + left + c)] =
                std::isfinite(value) ? ramp_color(ramp, position_on_scale(value, 0, high, log)) : nothing;
        }
}

/// One row of maps with the gaps between them, as one image and one texture.
figure::GridItem row_picture(const DrawContext& context, const Grid& grid, const HeadGridRow& row,
                             std::int64_t l) {
    const figure::Rect first = grid.map(l, 0);
    const auto cols = static_cast<std::int64_t>(grid.right() - grid.left),
               rows = static_cast<std::int64_t>(grid.map_h);
    const Theme& theme = context.theme;
    const auto map_cols = static_cast<std::int64_t>(grid.map_w);
    const bool log = context.log_colours();
    const bool same = context.view.same_scale;
    const ColourMap colours = context.view.colour_map;
    const auto is_off = [&](std::int64_t h) {
        const HeadEdits* const edits = head_edits(context, l, h);
        return edits != nullptr && edits->ablated();
    };
    std::uint64_t off = 0;
    for (std::int64_t h = 0; h < grid.H; ++h)
        off = off * 31 + (is_off(h) ? 2 : 1);
    const std::uint64_t key =
        key_of({row.version, off, static_cast<std::uint64_t>(map_cols), static_cast<std::uint64_t>(rows),
                static_cast<std::uint64_t>(theme.dark), static_cast<std::uint64_t>(colours),
                static_cast<std::uint64_t>(same), static_cast<std::uint64_t>(log)});
    // A head ablated in this layer is shown without its color.
    const auto ramp_of = [&](std::int64_t h) -> const Ramp& {
        return colours != ColourMap::head ? theme.heat(h, context.dims().H, colours)
               : is_off(h)                ? theme.neutral
                                          : context.head_colours(h).ramp;
    };
    const auto paint = [&] {
        std::vector<figure::Color> pixels(static_cast<std::size_t>(rows * cols), theme.canvas);
        for (std::int64_t h = 0; h < grid.H; ++h) {
            const analysis::HeadMap& map = row.heads[static_cast<std::size_t>(h)];
            const float high = same ? 1.0F : std::max(map.facts.largest, 1e-6F);
            paint_map(pixels, cols, static_cast<std::int64_t>(grid.map(l, h).x - grid.left), map, rows,
                      map_cols, ramp_of(h), high, log, theme.line);
        }
        return pixels;
    };
    return {.area = {grid.left, first.y, static_cast<float>(cols), grid.map_h},
            .cols = static_cast<int>(cols),
            .rows = static_cast<int>(rows),
            .pixels = context.pixels != nullptr ? context.pixels->find(key, paint)
                                                : std::make_shared<const std::vector<figure::Color>>(paint()),
            .key = key};
}

std::string tip_of(const analysis::HeadFacts& facts, const AttentionInfo& info, std::int64_t l,
                   std::int64_t h) {
    const analysis::HeadMetrics& m = facts.metrics;
    std::string text = analysis::head_name(info, l, h) + (m.labelled ? ": " + label_words(m) : "");
    // The scores that name heads are on one line, the others on the next.
    for (const bool names : {true, false}) {
        std::string line;
        for (const analysis::HeadScoreInfo& score : analysis::head_scores())
            if (score.label.text.empty() != names && !score.brief.empty() && m.has(score.score))
                line += (line.empty() ? "\n" : ", ") + tr(score.brief) + " " +
                        score_text(score.score, m[score.score]);
        text += line;
    }
    text += facts.causal ? "\n" + tr("board_page.causal_no_later_key", "causal: no later key is read") : "";
    if (facts.empty_rows > 0)
        text += "\n" + tr_n("board_page.row_zeros", "{} row of zeros", "{} rows of zeros", facts.empty_rows,
                            grouped(facts.empty_rows));
    for (const std::string& flag : flags_of(facts, info))
        text += "\n⚠ " + flag;
    return text;
}

void draw_head(Picture& picture, const DrawContext& context, const Grid& grid, const HeadGridRow& row,
               std::int64_t l, std::int64_t h) {
    const Theme& theme = context.theme;
    const AttentionInfo& info = context.head_grid->info();
    const analysis::HeadFacts& facts = row.heads[static_cast<std::size_t>(h)].facts;
    const figure::Rect map = grid.map(l, h);
    const bool open = l == context.view.attention.layer && h == context.view.head;
    const Pattern& pattern = pattern_of(facts.metrics);
    const bool marked =
        !info.is_mean(l, h) && context.view.attention.pattern == std::string(1, pattern.letter);
    const float reach = open ? 3.0F : marked ? 2.0F : 1.0F;
    picture.scene.add(
        figure::RectItem{.area = {map.x - reach, map.y - reach, map.w + 2 * reach, map.h + 2 * reach},
                         .stroke = open || marked ? theme.ink : theme.line2,
                         .stroke_width = open     ? 3.0F
                                         : marked ? 1.5F
                                                  : 1.0F});
    if (grid.lettered) {
        const std::string letter = pattern.letter == '-' ? "·" : std::string(1, pattern.letter);
        const bool flagged = facts.flagged(); // the warning sign takes the right half
        const float baseline = map.bottom() + letter_height - 2;
        const bool bold = open || marked;
        draw_text(picture, context, flagged ? map.x + 4 : map.x + map.w / 2, baseline, letter,
                  bold ? figure::Font::mono_semibold : figure::Font::mono, 12, bold ? theme.ink : theme.muted,
                  figure::Align::center);
        if (flagged)
            draw_text(picture, context, map.right() + 1, baseline, "⚠", figure::Font::ui_semibold, 12,
                      theme.bad, figure::Align::right);
    } else if (facts.flagged()) {
        picture.scene.add(figure::PolygonItem{
            {{map.right() - 6, map.y}, {map.right(), map.y}, {map.right(), map.y + 6}}, theme.bad});
    }
    const HeadEdits* const edits = head_edits(context, l, h);
    if (edits != nullptr)
        draw_edit_marks(picture, context, map, *edits);
    const std::string name = analysis::head_name(info, l, h);
    picture.add_hotspot({map.x - 2, map.y - 2, map.w + 4, grid.pitch_y() - 4}, "open " + name, OpenHead{l, h},
                        tip_of(facts, info, l, h) + (edits == nullptr ? "" : "\n" + edits_text(*edits)));
}

void draw_layer_name(Picture& picture, const DrawContext& context, const Grid& grid, std::int64_t l) {
    const Theme& theme = context.theme;
    const bool open = l == context.view.attention.layer;
    const std::string name = analysis::layer_name(context.head_grid->info(), l);
    const figure::Rect first = grid.map(l, 0);
    const float middle = first.y + first.h / 2;
    const float width = draw_text(picture, context, first.x - 10, figure::baseline_for(middle, 12), name,
                                  open ? figure::Font::mono_semibold : figure::Font::mono, 12,
                                  open ? theme.ink : theme.muted, figure::Align::right);
    const LayerMarks* const marks = layer_marks(context, l);
    if (marks == nullptr || marks->others.empty())
        return;
    std::string names;
    for (const TensorId id : marks->others)
        names += (names.empty() ? "" : ", ") + std::string(tensor_info(id).name);
    constexpr float size = 8;
    const figure::Point at{first.x - 10 - width - 10, middle};
    draw_edited_diamond(picture, context, at, size);
    picture.tips.push_back(
        {{at.x - size, at.y - size, 2 * size + width + 10, 2 * size},
         tr_n("board_page.edited_no_head_alone", "{}: {} is edited and belongs to all heads",
              "{}: {} are edited and belong to all heads", static_cast<std::int64_t>(marks->others.size()),
              name, names)});
}

/// Draws a layer that has not been read yet or could not be read.
void draw_missing_row(Picture& picture, const DrawContext& context, const Grid& grid, std::int64_t l,
                      const std::string& error) {
    const bool lacks_heads = !context.head_grid->info().has_weights(l);
    for (std::int64_t h = 0; h < grid.H && !lacks_heads; ++h)
        picture.scene.add(figure::RectItem{.area = grid.map(l, h), .stroke = context.theme.line});
    if (error.empty())
        return;
    const figure::Rect first = grid.map(l, 0);
    draw_text(picture, context, first.x + 6, figure::baseline_for(first.y + first.h / 2, 12.5F),
              lacks_heads ? tr("board_page.delta_layer", "delta layer: no attention weights")
                          : "⚠ " + tr("board_page.layer_could_not_read", "this layer could not be read"),
              figure::Font::ui, 12.5F, lacks_heads ? context.theme.muted : context.theme.bad);
    picture.tips.push_back({{first.x, first.y, grid.right() - first.x, first.h}, error});
}

void draw_head_numbers(Picture& picture, const DrawContext& context, const Grid& grid) {
    const float size = 12;
    const AttentionInfo& info = context.head_grid->info();
    const float widest = context.measure("H" + std::to_string(grid.own_H - 1), figure::Font::mono, size) + 6;
    const auto every =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(widest / grid.pitch_x())));
    for (std::int64_t h = 0; h < grid.H; ++h) {
        const bool open = h == context.view.head;
        const bool mean = h >= grid.own_H;
        const bool beside_open = every > 1 && std::abs(h - context.view.head) < every;
        if (!open && !mean && (h % every != 0 || beside_open))
            continue;
        const figure::Rect map = grid.map(0, h);
        draw_text(picture, context, map.x + map.w / 2, grid.top - 10, analysis::head_column(info, h),
                  open ? figure::Font::mono_semibold : figure::Font::mono, size,
                  open ? context.theme.ink : context.theme.muted, figure::Align::center);
    }
}

/// Explains the letters that occur below the maps.
void draw_letters_legend(Picture& picture, const DrawContext& context, const Grid& grid, float baseline) {
    std::set<char> letters;
    for (std::int64_t l = 0; l < grid.L; ++l)
        if (const auto row = context.head_grid->row(l))
            for (const auto& head : row->heads)
                letters.insert(pattern_of(head.facts.metrics).letter);
    std::string words;
    for (const Pattern& pattern : patterns())
        if (letters.contains(pattern.letter) && pattern.letter != '-')
            words += (words.empty() ? "" : " · ") + std::string(1, pattern.letter) + " " + tr(pattern.label);
    if (letters.contains('-'))
        words += (words.empty() ? "" : " · ") + tr("board_page.no_clear_pattern", "“·” no clear pattern");
    const float end =
        draw_paragraph(picture, context, grid.left, baseline, context.width - grid_pad - grid.left, words,
                       figure::Font::ui, 12, 17, context.theme.muted);
    picture.scene.height = std::max(picture.scene.height, end);
}

} // namespace

float head_grid_width(const DrawContext& context) {
    if (context.head_grid == nullptr)
        return 0;
    const AttentionInfo& info = context.head_grid->info();
    const auto H = static_cast<float>(info.H);
    constexpr float all_maps = 264.0F, smallest_wanted = 22.0F, largest_wanted = 64.0F, least = 256.0F;
    const float map = std::clamp(all_maps / H, smallest_wanted, largest_wanted);
    const float wanted = 2 * grid_pad + layer_label_width + H * (map + map_gap) - map_gap +
                         (info.own_heads() < info.H ? before_means : 0);
    // The small maps shrink first if that lets the open head's map show numbers.
    const float narrow = wanted - H * (map - std::min(map, smallest_wanted));
    const float spare = context.width - width_for_numbers(context);
    const float shared = spare < context.width && spare >= narrow ? std::min(wanted, spare) : wanted;
    const float switched =
        has_stacks(context) ? 2 * canvas_pad + segmented_width(context, stack_segments(context)) : least;
    return std::clamp(shared, std::max(least, switched), std::max({least, switched, context.width * 0.46F}));
}

VisibleRows visible_rows(const DrawContext& context, float from, float to) {
    const Grid grid = grid_of(context);
    return {row_at(grid, from), row_at(grid, to)};
}

figure::Rect head_grid_row_area(const DrawContext& context, std::int64_t l) {
    const Grid grid = grid_of(context);
    return {0, grid.map(l, 0).y, context.width, grid.pitch_y()};
}

Picture draw_head_grid(const DrawContext& context, float from, float to) {
    Picture picture;
    const AttentionInfo& info = context.head_grid->info();
    const Grid grid = grid_of(context);
    picture.scene.width = std::max(grid.right() + grid_pad, context.width);
    picture.scene.height = std::max(grid.bottom() + foot_of(context), context.height);
    const bool stacks = has_stacks(context);
    draw_view_heading(picture, context,
                      stacks ? tr(names_of_stack(context.view.attention.stack).title)
                             : tr("common.all_heads", "All heads"),
                      set_size_text(info));
    if (stacks)
        draw_segmented(picture, context, canvas_pad, stack_switch, stack_segments(context));
    draw_head_numbers(picture, context, grid);
    const VisibleRows seen{row_at(grid, from), row_at(grid, to)};
    for (std::int64_t l = seen.first; l <= seen.last; ++l) {
        draw_layer_name(picture, context, grid, l);
        const auto row = context.head_grid->row(l);
        if (row == nullptr || row->heads.empty()) {
            draw_missing_row(picture, context, grid, l, row == nullptr ? "" : row->error);
            continue;
        }
        picture.scene.add(row_picture(context, grid, *row, l));
        for (std::int64_t h = 0; h < grid.H; ++h)
            draw_head(picture, context, grid, *row, l, h);
    }
    const float legend = grid.bottom() + 16;
    const bool log = context.log_colours();
    const std::string of_all =
        log ? tr("board_page.weight_log_scale", "weight on a log scale") : tr("common.weight", "weight");
    // Translators: the size of a weight relative to the largest of its head
    const std::string of_head = log ? tr("board_page.largest_log_scale", "of largest on a log scale")
                                    : tr("board_page.largest", "of largest");
    const float room = context.width - grid_pad - grid.left;
    draw_legend(picture, context, grid.left, legend, log ? 180 : 110, context.head_ramp(context.view.head), 0,
                1, context.view.same_scale ? of_all : of_head, false, log, room);
    const std::vector<const HeadEdits*> edited = edited_heads(context, grid.own_L, grid.own_H);
    float foot = legend + 42 + (log ? log_words_foot : 0.0F);
    draw_marks_legend(picture, context, grid.left, foot, room, edited);
    if (!edited.empty())
        foot += marks_foot;
    if (grid.lettered)
        draw_letters_legend(picture, context, grid, foot + 16);
    return picture;
}

} // namespace headscope::app
