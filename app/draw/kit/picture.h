#pragma once

#include "app/draw/kit/hotspot.h"
#include "app/draw/kit/pixel_cache.h"
#include "app/draw/kit/theme.h"
#include "app/state/head_grid.h"
#include "app/state/shown.h"
#include "core/figure/scene.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// The position of a matrix in a picture, for hit testing, outlines, and tests that read pixels.
struct MatrixGrid {
    TensorId tensor = TensorId::x;
    Index origin{};   ///< address of the first cell
    int row_axis = 0; ///< the tensor's axis shown vertically
    int col_axis = 0; ///< the tensor's axis shown horizontally
    std::int64_t rows = 0, cols = 0;
    /// Column indices along col_axis if they are not consecutive; otherwise empty.
    std::vector<std::int64_t> column_indices = {};
    figure::Rect area;                ///< covers all cells
    float pitch_x = 0, pitch_y = 0;   ///< distance between neighboring cells
    float gap = 0;                    ///< the gap between two cells, part of the pitch
    bool heatmap = false;             ///< cells are colored by value
    std::string map = {};             ///< name of the color map: "head", "diverging", ...
    float low = 0, high = 0;          ///< values at the ends of the color map
    bool relative_to_row_max = false; ///< these values are distances from the largest value of the row
    bool outlined = true;             ///< takes part in outlines and hovering
    bool shows_own_values = true;     ///< cells show the tensor's own values, not a difference or a mean
    /// The change of a dragged number per pixel upward; 0: numbers are dragged sideways.
    float change_per_pixel = 0;

    figure::Rect cell(std::int64_t row, std::int64_t col) const;
    Index index(std::int64_t row, std::int64_t col) const;
    /// The cell at a point.
    std::optional<CellAddress> at(float x, float y) const;
    /// Row and column of a cell of the same tensor, if this grid contains the cell.
    std::optional<std::pair<std::int64_t, std::int64_t>> find(const Index& index) const;
};

/// A number printed next to its cell.
struct CellTag {
    CellAddress cell;
    figure::Rect area;
};

/// A scene and its interactive areas, all in logical pixels with the same origin.
struct Picture {
    figure::Scene scene;
    std::vector<MatrixGrid> grids;
    std::vector<Hotspot> hotspots;
    std::vector<Slider> sliders;
    std::vector<DragArea> drags;
    std::vector<Tip> tips;
    std::vector<TokenWord> token_words;
    std::vector<TextField> fields;
    std::vector<DropDown> lists;
    std::vector<CellTag> tags;
    figure::Rect
        pointed_area{};   ///< encloses everything that a lesson points at in this picture; may be empty
    bool scrolls = false; ///< on screen: larger than its region
    float width_for_all_numbers =
        0; ///< the width at which all numbers are printed; 0: all are printed already

    /// Adds a hotspot; its label must be unique in the picture.
    void add_hotspot(const figure::Rect& area, std::string label, Action action, std::string tip = {});
    void move_by(float dx, float dy);
    /// Appends the content of another picture, moved by (dx, dy).
    void append(Picture other, float dx, float dy);
};

class Comparison;
struct Flash;
struct Earlier;

/// One entry of the document's history.
struct HistoryLine {
    std::string label, detail;
    bool baseline = false; ///< this state is A
    /// On the first line: earlier steps, oldest first, from before the project was last saved.
    std::vector<std::string> steps_before_saving = {};
};

/// The arguments of every drawing function.
struct DrawContext {
    const Shown& shown;
    const ViewState& view;
    const Theme& theme;
    const figure::TextMeasure& measure;
    float width = 0, height = 0;               ///< the available space
    bool controls = true;                      ///< false: a figure for export, without switches and buttons
    std::span<const HistoryLine> history = {}; ///< history of the document, oldest first
    std::size_t history_position = 0;          ///< index of the current line
    const Comparison* compare = nullptr;       ///< comparison with the baseline, if one is marked
    Compare showing = Compare::now;            ///< the content of `shown`: B, A, or B − A
    const Flash* flash = nullptr;              ///< recently changed cells while they are highlighted
    const HeadGrid* head_grid = nullptr;       ///< the document's grid of heads, if it has one
    PixelCache* pixels = nullptr;              ///< null: no pixels are cached between frames
    std::string_view hovered = {};             ///< label of the hotspot under the mouse; may be empty
    const Earlier* earlier = nullptr;          ///< the state before the last step, while charts show it
    bool heading = true;                       ///< false: a figure without title and formula
    /// A figure of every head of the layer, where the canvas shows the open head beside the grid of heads.
    bool all_heads = false;

    const Dims& dims() const { return shown.dims(); }
    bool difference() const { return showing == Compare::difference; }
    /// The colors of head h; a mean over heads has none of its own.
    const HeadColours& head_colours(std::int64_t h) const;
    const Ramp& head_ramp(std::int64_t h) const;
    /// Returns true if weights are colored by their logarithm.
    bool log_colours() const;
};

/// The main tensor of the view, used while the mouse is over no other tensor.
TensorId main_tensor(const ViewState& view);

/// The current cell, used for outlines and the inspector: the hovered cell, otherwise the selected one,
/// otherwise in B − A the cell with the largest change, otherwise the largest cell of the row stepped through
/// (or of a default row) in the focused head. Empty only without a trace.
std::optional<CellAddress> current_cell(const Shown& shown, const ViewState& view);

/// "weights[0][sat, cat]": an index is a word if the word is unique in the sentence, else word@position.
std::string address_text(const Shown& shown, const CellAddress& cell);
/// The label of token i; its index if there are no tokens.
std::string word_label(const std::vector<std::string>& tokens, std::int64_t i);
/// The label of query i in addresses.
std::string query_word(const Problem& problem, std::int64_t i);
std::string key_word(const Problem& problem, std::int64_t j);

} // namespace headscope::app
