#pragma once

#include "app/draw/kit/picture.h"

#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace headscope::app {

/// The colors of matrix cells.
enum class CellFill : std::uint8_t {
    owned,    ///< flat tint of the head that owns the cell, or neutral; numbers have a small bar below
    heat,     ///< by value, on a ramp from `low` to `high`
    diverging ///< by value, on the diverging map, symmetric about zero: [-high, high]
};

/// A matrix to draw, with its position.
struct MatrixSpec {
    TensorId tensor = TensorId::x;
    Index origin{};
    int row_axis = 0, col_axis = 0;
    std::int64_t rows = 0, cols = 0;
    std::vector<std::int64_t> column_indices = {}; ///< see MatrixGrid; not for cells below texture_below
    float x = 0, y = 0;
    float cell_w = 42, cell_h = 30; ///< pitch
    CellFill fill = CellFill::owned;
    const Ramp* ramp = nullptr; ///< for heat
    bool log = false;           ///< heat by the logarithm, relative to `high`; `low` is ignored
    /// The largest number of each row. If set, heat shows the distance of a number below it, and `low` and
    /// `high` are the ends of that distance.
    std::shared_ptr<const std::vector<float>> row_maxima = {};
    float low = 0, high = 1; ///< ends of the color scale; for owned cells the bar of `high` fills half a cell
    int decimals = 2;        ///< maximum
    bool plus_sign = false;  ///< positive numbers have a plus sign (differences)
    bool zero_as_dot = false; ///< an exact zero is printed as a dot, as in differences
    /// The index of the head that owns a cell, or -1; only for owned cells. Default: no owner.
    std::function<std::int64_t(std::int64_t row, std::int64_t col)> owner = {};
    /// The number of a cell; default: the tensor's own number.
    std::function<float(std::int64_t row, std::int64_t col)> value = {};
    /// Returns true for masked cells, in addition to those that are minus infinity; default: none.
    std::function<bool(std::int64_t row, std::int64_t col)> forbidden = {};
    /// The contribution of a head to a cell. If set, the bar below the number has one segment per head.
    std::function<float(std::int64_t row, std::int64_t col, std::int64_t head)> head_contribution = {};
    std::int64_t rows_stepped = -1; ///< dims later rows, which are not stepped through yet; -1: none
};

/// Draws the cells, adds the grid to the picture and returns it. Omits numbers if the widest one does not
/// fit; cells smaller than `texture_below` pixels become one image.
MatrixGrid draw_matrix(Picture& picture, const DrawContext& context, const MatrixSpec& spec);
/// Width of a cell for numbers such as -0.55.
inline constexpr float readable_cell = 40.0F;
inline constexpr float texture_below = 12.0F;

/// The same matrix for B − A: signed, on the diverging map that ends at the stage's largest change. Returns
/// the matrix unchanged if the context shows no such difference; idempotent.
MatrixSpec difference_spec(const DrawContext& context, MatrixSpec spec);
/// Returns true if B's number differs from A or, without a baseline, from the original number of the preset
/// or file.
bool marked_as_edited(const DrawContext& context, TensorId id, const Index& at);
/// Draws a masked cell: one diagonal, no number.
void draw_hatched(Picture& picture, const Theme& theme, const figure::Rect& area);
/// Draws a score that is masked only in A (change +infinity) or only in B (minus infinity).
void draw_masked_on_one_side(Picture& picture, const DrawContext& context, const figure::Rect& cell,
                             float change);

/// The width of cells in which every number of the range is printed with two decimals, with a margin on both
/// sides.
float two_decimals_cell(float low, float high, bool plus);
/// The minimum height of cells that print numbers.
inline constexpr float lowest_with_numbers = 18.0F;
/// The minimum height of rows that each have a token label.
inline constexpr float lowest_with_name = 14.0F;
/// Up to this number of rows, a low canvas scrolls instead of omitting numbers or tokens.
inline constexpr float rows_kept_readable = 24.0F;
/// The minimum width and height of a cell with a bar below its number.
inline constexpr float smallest_with_bar = 24.0F;
/// The minimum row height of a scrolling view: enough for numbers if there are few rows, enough for names if
/// there are somewhat more.
float least_row_height(float rows);
/// Returns true if all numbers of a matrix fit into its cells and are wanted.
bool prints_numbers(const DrawContext& context, const MatrixSpec& spec);
/// The number of decimals that a matrix prints at its cell size; 0 if it prints none.
int decimals_shown(const DrawContext& context, const MatrixSpec& spec);

/// Draw token labels to the left of a grid (ending 12 pixels before it) and above it (10 pixels). The label
/// of the current row or column is bold. Labels that would touch are omitted; long words are shortened in the
/// middle and have a tooltip with the full text. `keys`: the tokens are keys.
void draw_row_labels(Picture& picture, const DrawContext& context, const MatrixGrid& grid, bool keys);
void draw_column_labels(Picture& picture, const DrawContext& context, const MatrixGrid& grid, bool keys);
/// Returns true if labels above columns of that width must be rotated; and the height that labels need.
bool column_labels_turned(const DrawContext& context, float pitch, bool keys);
float column_label_height(const DrawContext& context, float pitch, bool keys);
/// The width that row labels need, in pixels.
float row_label_width(const DrawContext& context, bool keys);

/// Draws the bar in a head's color above a matrix, 4 pixels high; only an outline if the head is ablated.
void draw_head_bar(Picture& picture, const DrawContext& context, std::int64_t head, float x, float y,
                   float width);
/// Draws bars above the columns of a matrix with several heads, one per head (or per key/value head).
void draw_head_bars(Picture& picture, const DrawContext& context, const MatrixGrid& grid,
                    std::int64_t head_width, bool kv);

/// The largest finite |value| of a tensor in one batch entry; at least 1e-6. `kept`: the cache; may be null.
float largest_magnitude(const Shown& shown, TensorId id, std::int64_t batch, PixelCache* kept);
inline float largest_magnitude(const DrawContext& context, TensorId id, std::int64_t batch) {
    return largest_magnitude(context.shown, id, batch, context.pixels);
}

/// Draws a color scale with its ends and its quantity `what`. `masked`: adds the hatched sample. If the
/// legend is wider than `room`, the text after a comma is dropped and the sample moves below the text. If it
/// is still too wide, the text moves below the scale, between its ends; for a logarithmic scale it gets its
/// own line. `log`: see position_on_scale.
void draw_legend(Picture& picture, const DrawContext& context, float x, float y, float width,
                 const Ramp& ramp, float low, float high, const std::string& what, bool masked,
                 bool log = false, float room = std::numeric_limits<float>::infinity());

/// Outlines the row and column of the current cell and, through the index map, its input cells, in every grid
/// of the picture. Call last.
void draw_outlines(Picture& picture, const DrawContext& context);
/// Draws one outline around the selection in every grid that shows a part of it.
void draw_selection(Picture& picture, const DrawContext& context);

} // namespace headscope::app
