#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/product.h"
#include "app/draw/matrix/rotation.h"
#include "app/draw/pages/pages.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float split_top = 104.0F;
constexpr float name_room = 36.0F; ///< space for name and bar above each matrix
constexpr float split_arrow_room = 110.0F;

float ease(float t) {
    return t < 0.5F ? 4 * t * t * t : 1 - std::pow(-2 * t + 2, 3.0F) / 2;
}

/// One of Q, K, V or concat, with its blocks by head.
struct Slices {
    TensorId joined, blocks;
    std::string name, detail;
    std::int64_t heads, width; ///< number of blocks, and columns of each
    std::int64_t shared;       ///< query heads that share a block
    bool keys;                 ///< the rows are key tokens
};

MatrixSpec joined_spec(const DrawContext& context, const Slices& s) {
    return {.tensor = s.joined,
            .origin = {context.view.batch, 0, 0, 0},
            .row_axis = 1,
            .col_axis = 2,
            .rows = s.keys ? context.dims().Tk : context.dims().Tq,
            .cols = s.heads * s.width,
            .high = largest_magnitude(context, s.joined, context.view.batch),
            .owner = column_owner(s.width, s.shared)};
}

MatrixSpec block_spec(const DrawContext& context, const Slices& s, std::int64_t g) {
    return {.tensor = s.blocks,
            .origin = {context.view.batch, g, 0, 0},
            .row_axis = 2,
            .col_axis = 3,
            .rows = s.keys ? context.dims().Tk : context.dims().Tq,
            .cols = s.width,
            .high = largest_magnitude(context, s.joined, context.view.batch),
            .owner = [head = g * s.shared](std::int64_t, std::int64_t) { return head; }};
}

MatrixSpec at(MatrixSpec spec, float x, float y, float cell_w, float cell_h) {
    spec.x = x;
    spec.y = y;
    spec.cell_w = cell_w;
    spec.cell_h = cell_h;
    return spec;
}

struct Cells {
    float w = 0, h = 0, gap = 0; ///< gap: distance between separated blocks
};

Cells fit(const Slices& widest, float rows, float lines, float room_w, float room_h, float labels) {
    Cells cells;
    const auto cols = static_cast<float>(widest.heads * widest.width);
    const float pieces = static_cast<float>(widest.heads - 1);
    cells.gap = std::clamp(160.0F / std::max(pieces, 1.0F), 6.0F, 28.0F);
    cells.w = std::clamp(std::floor((room_w - labels - split_arrow_room - pieces * cells.gap) / (2 * cols)),
                         2.0F, 96.0F);
    cells.h = std::clamp(std::floor((room_h - lines * name_room) / rows), least_row_height(rows), 56.0F);
    return cells;
}

/// `gap`: the distance to the next block, whose name starts at its left edge.
void draw_block_name(Picture& picture, const DrawContext& context, const Slices& s, std::int64_t g, float x,
                     float y, float width, float gap) {
    const Theme& theme = context.theme;
    const std::string full = std::string(tensor_info(s.blocks).name) + "[" + std::to_string(g) + "]";
    const std::string brief = std::to_string(g);
    const float apart = std::max(8 - gap, 0.0F); // minimum distance to the next name
    const std::string& name = context.measure(full, figure::Font::mono, 13) + apart <= width ? full : brief;
    draw_text(picture, context, x, y - 14, name, figure::Font::mono, 13, theme.ink);
    const std::int64_t first = g * s.shared;
    const std::string heads = s.shared == 1
                                  ? tr("common.head", "Head {}", brief)
                                  : tr("split_pages.heads", "Heads {}–{}", first, first + s.shared - 1);
    const float heads_width = context.measure(heads, figure::Font::ui_semibold, 12.5F);
    const float end = width - apart;
    if (context.measure(name, figure::Font::mono, 13) + heads_width + 10 > end)
        return;
    const figure::Color colour = theme.head(first, context.dims().H).colour;
    draw_text(picture, context, x + end, y - 14, heads, figure::Font::ui_semibold, 12.5F, colour,
              figure::Align::right);
    if (s.shared == 1 && context.shown.problem().gain(first) == 0.0F)
        strike_out(picture, x + end, y - 14, heads_width, 12.5F, colour, figure::Align::right);
}

/// Draws the blocks, separated by the fraction `apart` of the gap. (x, y): top left corner of the joined
/// matrix.
void draw_blocks(Picture& picture, const DrawContext& context, const Slices& s, float x, float y,
                 const Cells& cells, float apart, bool labels) {
    const float width = cells.w * static_cast<float>(s.width);
    // The blocks print the decimals of the joined matrix, so that a number looks the same in both.
    const int decimals = decimals_shown(context, at(joined_spec(context, s), x, y, cells.w, cells.h));
    for (std::int64_t g = 0; g < s.heads; ++g) {
        const float block_x = std::round(x + static_cast<float>(g) * (width + cells.gap * apart));
        MatrixSpec block = at(block_spec(context, s, g), block_x, y, cells.w, cells.h);
        block.decimals = decimals;
        const MatrixGrid grid = draw_matrix(picture, context, block);
        for (std::int64_t q = 0; q < s.shared; ++q) {
            const float piece = (width - 1) / static_cast<float>(s.shared);
            draw_head_bar(picture, context, g * s.shared + q, block_x + piece * static_cast<float>(q), y - 8,
                          piece);
        }
        draw_block_name(picture, context, s, g, block_x, y, width, cells.gap * apart);
        if (labels && g == 0)
            draw_row_labels(picture, context, grid, s.keys);
    }
}

/// Draws a line from each query head down to the name of the key head that its group shares.
void draw_sharing(Picture& picture, const DrawContext& context, const Slices& queries, const Slices& keys,
                  float x, float from_y, float to_y, const Cells& cells, float apart) {
    const float width = cells.w * static_cast<float>(queries.width), pitch = width + cells.gap * apart,
                piece = width / static_cast<float>(keys.shared);
    for (std::int64_t h = 0; h < queries.heads; ++h) {
        const figure::Point from{x + static_cast<float>(h) * pitch + width / 2, from_y + 3};
        const figure::Point to{x + static_cast<float>(h / keys.shared) * pitch +
                                   (static_cast<float>(h % keys.shared) + 0.5F) * piece,
                               to_y - 29};
        const float middle = (from.y + to.y) / 2;
        picture.scene.add(figure::CurveItem{from,
                                            {from.x, middle},
                                            {to.x, middle},
                                            to,
                                            context.theme.head(h, context.dims().H).colour,
                                            1.5F});
    }
}

float blocks_width(const Slices& s, const Cells& cells, float apart) {
    return cells.w * static_cast<float>(s.heads * s.width) +
           cells.gap * apart * static_cast<float>(s.heads - 1);
}

void draw_joined(Picture& picture, const DrawContext& context, const Slices& s, float x, float y,
                 const Cells& cells, bool labels) {
    const Theme& theme = context.theme;
    const MatrixGrid grid =
        draw_matrix(picture, context, at(joined_spec(context, s), x, y, cells.w, cells.h));
    draw_head_bars(picture, context, grid, s.width, s.shared > 1);
    const float name =
        draw_text(picture, context, x, y - 14, s.name, figure::Font::ui_semibold, 15, theme.ink);
    const float detail = context.measure(s.detail, figure::Font::mono, 12.5F);
    // The first head's name is at the end of its bar, below this line.
    const float room = s.heads > 1 ? cells.w * static_cast<float>(s.width) - 24 : grid.area.w;
    if (name + 10 + detail < room)
        draw_text(picture, context, x + name + 10, y - 14, s.detail, figure::Font::mono, 12.5F, theme.muted);
    if (labels)
        draw_row_labels(picture, context, grid, s.keys);
}

float small_cell_legend(Picture& picture, const DrawContext& context, float x, float y, float limit) {
    if (!picture.grids.back().heatmap)
        return y;
    if (context.difference())
        limit = picture.grids.back().high;
    draw_legend(picture, context, x, y, 160, context.theme.diverging, -limit, limit,
                context.difference() ? "B − A" : tr("common.value", "value"), false);
    return y + 40;
}

/// Adds a switch at the top right of a view.
Picture with_segments(Picture page, const DrawContext& context, const std::vector<Segment>& segments) {
    draw_segmented(page, context, context.width - canvas_pad - segmented_width(context, segments), 28,
                   segments);
    return page;
}

} // namespace

Picture draw_split_page(const DrawContext& context) {
    Picture picture;
    const Dims& dims = context.dims();
    const std::int64_t shared = dims.H / dims.Hkv;
    const AttentionGraph& attention = context.shown.attention();
    const ProblemParts parts = context.shown.problem().parts();
    const bool columns = attention.heads_are_columns(), rotary = parts.rotary;
    const bool scaled = parts.query_scale && !parts.qk_norm && !parts.joint_norm; // queries alone change
    const std::string formula = attention.formula(TensorId::q_heads);
    const bool one_head_page = !columns || context.shown.document->has_head_grid();
    const bool turning = one_head_page && context.view.one_head;
    const bool apart_on = context.view.apart_target > 0.5F;
    std::vector<Segment> segments{{tr("split_pages.together", "Together"), SetApart{false},
                                   !apart_on && !turning,
                                   tr("split_pages.one_wide_matrix", "One wide matrix")},
                                  {tr("split_pages.apart", "Apart"), SetApart{true}, apart_on && !turning,
                                   tr("split_pages.one_block_per_head", "One block per head")}};
    if (one_head_page)
        segments.push_back(
            {rotary ? tr("split_pages.rotation", "Rotation") : tr("split_pages.one_head", "One head"),
             ShowOneHead{true}, turning,
             rotary ? tr("split_pages.how_queries_keys_head",
                         "How queries and keys of the head in focus are rotated by their position (RoPE)")
                    : tr("split_pages.columns_head_focus_alone", "The columns of the head in focus alone")});
    const float controls = segmented_width(context, segments);
    if (turning)
        return with_segments(draw_head_split_page(context, controls), context, segments);
    draw_view_heading(
        picture, context, tr("common.split_heads", "Split into heads"),
        // Translators: {} is a formula
        scaled        ? tr("split_pages.k_and_v_only_split", "{}; k and v only split", formula)
        : !columns    ? tr("split_pages.k_likewise_v_split", "{}; k likewise, v only split", formula)
        : shared == 1 ? tr("split_pages.same_k_v", "{}, the same for k and v", formula)
                      : tr_n("split_pages.k_v_head_all", "{}; k and v have {} head for all",
                             "{}; k and v have {} heads, each shared", dims.Hkv, formula, dims.Hkv),
        controls);
    draw_segmented(picture, context, context.width - canvas_pad - controls, 28, segments);
    const bool cross = context.shown.problem().has_source();
    const std::vector<Slices> all{{TensorId::q, TensorId::q_heads, "Q", "= X W_Q", dims.H, dims.dk, 1, false},
                                  {TensorId::k, TensorId::k_heads, "K", cross ? "= X_kv W_K" : "= X W_K",
                                   dims.Hkv, dims.dk, shared, true},
                                  {TensorId::v, TensorId::v_heads, "V", cross ? "= X_kv W_V" : "= X W_V",
                                   dims.Hkv, dims.dv, shared, true}};
    const Slices& widest =
        *std::ranges::max_element(all, {}, [](const Slices& s) { return s.heads * s.width; });
    const float labels = std::max(row_label_width(context, false), row_label_width(context, true));
    const auto rows = static_cast<float>(dims.Tq + 2 * dims.Tk);
    constexpr float two_lines_below = 68;
    Cells cells = fit(widest, rows, 3, context.width - 2 * canvas_pad,
                      context.height - split_top - 3 * 14 - two_lines_below, labels);
    // If only one of the two forms fits with numbers, show the heads; the button "Together" joins them.
    const auto columns_all = static_cast<float>(widest.heads * widest.width);
    const float alone = std::floor(
        (context.width - 2 * canvas_pad - labels - static_cast<float>(widest.heads - 1) * cells.gap) /
        columns_all);
    const bool heads_alone = cells.w < readable_cell && alone >= readable_cell;
    if (heads_alone)
        cells.w = std::min(alone, 76.0F);
    const float apart = ease(context.view.apart);
    const float left = canvas_pad + labels;
    const float right = heads_alone ? left : left + cells.w * columns_all + split_arrow_room;
    float y = split_top;
    for (const Slices& s : all) {
        y += name_room;
        const float height = cells.h * static_cast<float>(s.keys ? dims.Tk : dims.Tq);
        if (!heads_alone) {
            draw_joined(picture, context, s, left, y, cells, true);
            draw_arrow(picture, context, right - split_arrow_room + 18, y + height / 2,
                       split_arrow_room - 40);
        }
        if (s.joined == TensorId::k && s.shared > 1)
            draw_sharing(picture, context, all.front(), s, right, y - name_room - 14, y, cells, apart);
        draw_blocks(picture, context, s, right, y, cells, apart, heads_alone);
        y += height + 14;
    }
    y = small_cell_legend(picture, context, left, y + 8,
                          largest_magnitude(context, TensorId::q, context.view.batch));
    y = draw_paragraph(
        picture, context, left, y + 14, context.width - canvas_pad - left,
        columns ? tr("split_pages.nothing_recomputed_each_cell",
                     "Nothing is recomputed: each cell keeps its row, its value and its color. Only the gaps "
                     "are new.")
        : scaled
            ? tr("split_pages.queries_scaled_split",
                 "Queries are multiplied by a number of their position as they are split (see One head); "
                 "keys and values only move.")
        : rotary ? tr("split_pages.queries_keys_change_split",
                      "Queries and keys change as they are split (see Rotation); values only move.")
                 : tr("split_pages.queries_keys_change_split_2",
                      "Queries and keys change as they are split (see One head); values only move."),
        figure::Font::ui, 13, 18, context.theme.muted);
    picture.scene.width = std::max(context.width, right + blocks_width(widest, cells, 1) + canvas_pad);
    picture.scene.height = std::max(context.height, y);
    return picture;
}

Picture draw_concat_page(const DrawContext& context) {
    Picture picture;
    const Dims& dims = context.dims();
    const Problem& problem = context.shown.problem();
    const bool gains = std::ranges::any_of(problem.gains, [](float gain) { return gain != 1.0F; });
    const TensorId heads = context.shown.attention().first_input(TensorId::concat);
    const std::string out(tensor_info(heads).name);
    const bool joined_on = context.view.joined_target > 0.5F;
    const std::vector<Segment> segments{{tr("split_pages.apart", "Apart"), SetJoined{false}, !joined_on,
                                         tr("split_pages.one_block_per_head", "One block per head")},
                                        {tr("split_pages.together", "Together"), SetJoined{true}, joined_on,
                                         tr("split_pages.one_wide_matrix", "One wide matrix")}};
    draw_view_heading(picture, context, tr("common.concatenation", "Concatenation"),
                      gains ? "concat = [g₀·" + out + "[0], g₁·" + out + "[1], …]"
                            : "concat = [" + out + "[0], " + out + "[1], …]",
                      segmented_width(context, segments));
    draw_segmented(picture, context, context.width - canvas_pad - segmented_width(context, segments), 28,
                   segments);

    const Slices s{TensorId::concat, heads, "concat", "Tq × H·dv", dims.H, dims.dv, 1, false};
    const float labels = row_label_width(context, false);
    const auto cols = static_cast<float>(s.heads * s.width), pieces = static_cast<float>(s.heads - 1);
    const auto rows = static_cast<float>(dims.Tq);
    Cells cells;
    const float room_w = context.width - 2 * canvas_pad - labels;
    const auto fit_width = [&](float widest_gap) {
        cells.gap = std::clamp(240.0F / std::max(pieces, 1.0F), 6.0F, widest_gap);
        cells.w = std::clamp(std::floor((room_w - pieces * cells.gap) / cols), 2.0F, 96.0F);
    };
    fit_width(72);
    if (cells.w < readable_cell)
        fit_width(16); // numbers have priority over gaps
    // Cells without numbers have a legend below them.
    constexpr float between_blocks = 120, legend = 40, tallest = 56;
    const auto fit_height = [&](float below) {
        const float room = context.height - split_top - 2 * name_room - between_blocks - below;
        cells.h = std::clamp(std::floor(room / (2 * rows)), least_row_height(2 * rows), tallest);
    };
    fit_height(0);
    const MatrixSpec joined = at(joined_spec(context, s), 0, 0, cells.w, cells.h);
    if (context.difference() || decimals_shown(context, joined) == 0)
        fit_height(legend);
    const float height = cells.h * rows;
    const float left = canvas_pad + labels;

    float y = split_top + name_room + 8;
    draw_blocks(picture, context, s, left, y, cells, 1.0F, true);
    y += height + 22;
    const float middle = left + blocks_width(s, cells, 1) / 2;
    picture.scene.add(figure::LineItem{{middle, y}, {middle, y + 30}, context.theme.line2, 2});
    picture.scene.add(figure::LineItem{{middle - 5, y + 23}, {middle, y + 30}, context.theme.line2, 2});
    picture.scene.add(figure::LineItem{{middle + 5, y + 23}, {middle, y + 30}, context.theme.line2, 2});
    const std::string said =
        gains ? tr("split_pages.side_side_each_times", "side by side, each times its head gain")
              : tr("split_pages.side_side_no_number", "side by side; no number changes");
    const float said_width = context.measure(said, figure::Font::ui, 12.5F);
    const bool beside = middle + 16 + said_width <= context.width - 8;
    draw_text(picture, context, beside ? middle + 16 : middle - 16, figure::baseline_for(y + 15, 12.5F), said,
              figure::Font::ui, 12.5F, context.theme.muted,
              beside ? figure::Align::left : figure::Align::right);
    y += 30 + name_room + 16;

    // The columns slide from separate heads to one matrix.
    const float apart = 1.0F - ease(context.view.joined);
    const float width = cells.w * static_cast<float>(s.width);
    MatrixSpec spec = joined_spec(context, s);
    spec.decimals = decimals_shown(context, at(spec, left, y, cells.w, cells.h));
    spec.rows_stepped = context.view.row >= 0 ? context.view.row + 1 : -1;
    for (std::int64_t h = 0; h < dims.H; ++h) {
        MatrixSpec part = spec;
        part.origin[2] = h * dims.dv;
        part.cols = dims.dv;
        part.owner = [h](std::int64_t, std::int64_t) { return h; };
        const float x = std::round(left + static_cast<float>(h) * (width + cells.gap * apart));
        const MatrixGrid grid = draw_matrix(picture, context, at(part, x, y, cells.w, cells.h));
        draw_head_bar(picture, context, h, x, y - 8, width - 1);
        std::string name = tr("common.head", "Head {}", h);
        if (problem.gain(h) != 1.0F)
            name += " × " + number(problem.gain(h), 2);
        if (context.measure(name, figure::Font::ui_medium, 12.5F) > width - 4)
            name = std::to_string(h);
        const figure::Color colour = context.theme.head(h, dims.H).colour;
        const float taken = draw_text(picture, context, x + width - 1, y - 14, name, figure::Font::ui_medium,
                                      12.5F, colour, figure::Align::right);
        if (problem.gain(h) == 0.0F)
            strike_out(picture, x + width - 1, y - 14, taken, 12.5F, colour, figure::Align::right);
        if (h == 0)
            draw_row_labels(picture, context, grid, false);
    }
    draw_text(picture, context, left, y - 30, "concat", figure::Font::ui_semibold, 15, context.theme.ink);
    y += height + 20;
    y = small_cell_legend(picture, context, left, y,
                          largest_magnitude(context, TensorId::concat, context.view.batch));
    picture.scene.width = std::max(context.width, left + blocks_width(s, cells, 1) + canvas_pad);
    picture.scene.height = std::max(context.height, y + 8);
    return picture;
}

} // namespace headscope::app
