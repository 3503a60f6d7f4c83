#pragma once

#include "app/draw/kit/picture.h"

#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace headscope::app {

/// How the cells of a matrix are coloured.
enum class CellFill : std::uint8_t {
    owned, ///< flat tint of the head that owns the cell, neutral where none does; numbers carry a small bar
    heat,  ///< by value on a ramp from `low` to `high`
    diverging ///< by value on the diverging map, symmetric about zero: [-high, high]
};

/// What to draw as a matrix, and where.
struct MatrixSpec {
    TensorId tensor = TensorId::x;
    Index origin{};
    int row_axis = 0, col_axis = 0;
    std::int64_t rows = 0, cols = 0;
    std::vector<std::int64_t> places = {}; ///< as in MatrixGrid; for cells of texture_below and larger
    float x = 0, y = 0;
    float cell_w = 42, cell_h = 30; ///< pitch
    CellFill fill = CellFill::owned;
    const Ramp* ramp = nullptr; ///< for heat
    bool log = false;           ///< heat by the logarithm, down from `high`; `low` says nothing then
    /// The largest number of each row. With it, heat shows how far a number is below the largest of its row,
    /// and `low` and `high` are ends of that distance.
    std::shared_ptr<const std::vector<float>> row_tops = {};
    float low = 0, high = 1; ///< ends of the colours; for owned cells the bar of `high` fills half a cell
    int decimals = 2;        ///< at most
    bool plus = false;       ///< positive numbers carry a sign (differences)
    bool dots = false;       ///< an exact zero is a dot, as in differences
    /// The head that owns a cell, or -1; only for owned cells. Default: none.
    std::function<std::int64_t(std::int64_t row, std::int64_t col)> owner = {};
    /// The number shown; default: the tensor's own.
    std::function<float(std::int64_t row, std::int64_t col)> value = {};
    /// Cells that may not be read, beside those that are minus infinity; default: none.
    std::function<bool(std::int64_t row, std::int64_t col)> forbidden = {};
    /// A bar of several pieces under the number, one per head, instead of one piece.
    std::function<float(std::int64_t row, std::int64_t col, std::int64_t head)> share = {};
    std::int64_t rows_done = -1; ///< rows from here on are still to come and stay dim; -1: none is
};

/// Draws the cells, adds the grid to the picture and returns it. Cells too small for the widest number carry
/// none; cells under `texture_below` pixels become one image.
MatrixGrid draw_matrix(Picture& picture, const DrawContext& context, const MatrixSpec& spec);
/// Wide enough for numbers such as -0.55.
inline constexpr float readable_cell = 40.0F;
inline constexpr float texture_below = 12.0F;

/// The same matrix as B − A draws it: signed, on the diverging map that ends at the page's largest change.
/// Unchanged where the context shows no such difference; applying it twice does no harm.
MatrixSpec difference_spec(const DrawContext& context, MatrixSpec spec);
/// Whether B holds another number there than A, or, without a baseline, than the preset or the file gave it.
bool marked_as_edited(const DrawContext& context, TensorId id, const Index& at);
/// A masked cell: one diagonal, no number.
void draw_hatched(Picture& picture, const Theme& theme, const figure::Rect& area);
/// A score that is masked in A only (change +infinity) or in B only (minus infinity).
void draw_masked_in_one(Picture& picture, const DrawContext& context, const figure::Rect& cell, float change);

/// The width of cells in which every number of the range is printed with two decimals, with air at both
/// sides.
float two_decimals_cell(float low, float high, bool plus);
/// The height of the lowest cells that print numbers.
inline constexpr float lowest_with_numbers = 18.0F;
/// The height of the lowest rows that each have their token beside them.
inline constexpr float lowest_with_name = 14.0F;
/// With at most so many rows, a low page scrolls rather than dropping their numbers or tokens.
inline constexpr float rows_kept_readable = 24.0F;
/// Wide and high enough for the bar under a number.
inline constexpr float smallest_with_bar = 24.0F;
/// The height that a page which scrolls gives its rows at least: enough for numbers where there are few, for
/// names where there are some more.
float least_row_height(float rows);
/// How many decimals the numbers of that matrix get at its cell size; 0 when none are printed.
int decimals_shown(const DrawContext& context, const MatrixSpec& spec);

/// Token labels left of a grid (ending 12 left of it) and above it (10 above). The label of the row or column
/// that is spoken of is bold. Every n-th is left out where they would touch; long words lose their middle and
/// tell all on hover. `keys` says whether they are key tokens.
void draw_row_labels(Picture& picture, const DrawContext& context, const MatrixGrid& grid, bool keys);
void draw_column_labels(Picture& picture, const DrawContext& context, const MatrixGrid& grid, bool keys);
/// Whether the labels above columns of that pitch have to be turned, and the room that they need then or now.
bool column_labels_turned(const DrawContext& context, float pitch, bool keys);
float column_label_height(const DrawContext& context, float pitch, bool keys);
/// Room that row labels need, in pixels.
float row_label_width(const DrawContext& context, bool keys);

/// The 4-high bar in a head's colour above a matrix; an outline when the head is ablated.
void draw_head_bar(Picture& picture, const DrawContext& context, std::int64_t head, float x, float y,
                   float width);
/// Bars above the columns of a matrix that several heads own, one per head (or per key/value head).
void draw_head_bars(Picture& picture, const DrawContext& context, const MatrixGrid& grid,
                    std::int64_t head_width, bool kv);

/// Largest finite |value| of a tensor in one batch entry; at least 1e-6. `kept`: where it is kept, or null.
float largest_magnitude(const Shown& shown, TensorId id, std::int64_t batch, PixelCache* kept);
inline float largest_magnitude(const DrawContext& context, TensorId id, std::int64_t batch) {
    return largest_magnitude(context.shown, id, batch, context.pixels);
}

/// A colour scale with its ends and what it measures. `masked`: adds the hatched sample. Where all of it is
/// wider than `room`, what stands behind a comma is left out, and the sample goes below the words; if that is
/// still too wide, the words stand under the colours between the ends of the scale, and of a logarithmic
/// scale in a line of their own.
/// `log`: place_on_scale.
void draw_legend(Picture& picture, const DrawContext& context, float x, float y, float width,
                 const Ramp& ramp, float low, float high, const std::string& what, bool masked,
                 bool log = false, float room = std::numeric_limits<float>::infinity());

/// The row and the column of the cell that is spoken of, and, through the index map, the cells that it reads,
/// in every grid of the picture. Drawn last.
void draw_outlines(Picture& picture, const DrawContext& context);
/// One outline round what is selected, in every grid that shows some of it.
void draw_selection(Picture& picture, const DrawContext& context);

} // namespace headscope::app
