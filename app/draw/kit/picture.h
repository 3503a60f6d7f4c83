#pragma once

#include "app/draw/kit/hotspot.h"
#include "app/draw/kit/pixel_cache.h"
#include "app/draw/kit/theme.h"
#include "app/state/head_board.h"
#include "app/state/shown.h"
#include "core/figure/scene.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// Where a matrix stands in a picture: for hit-testing, for outlines, and for tests that look at pixels.
struct MatrixGrid {
    TensorId tensor = TensorId::x;
    Index origin{};   ///< address of the first cell
    int row_axis = 0; ///< the tensor's axis that runs down
    int col_axis = 0; ///< the tensor's axis that runs across
    std::int64_t rows = 0, cols = 0;
    /// Along col_axis, of columns that are no neighbours; empty: they are.
    std::vector<std::int64_t> places = {};
    figure::Rect area;              ///< covers all cells
    float pitch_x = 0, pitch_y = 0; ///< distance between neighbouring cells
    float gap = 0;                  ///< the part of the pitch between two cells
    bool heatmap = false;           ///< cells are coloured by value
    std::string map = {};           ///< name of the colour map: "head", "diverging", ...
    float low = 0, high = 0;        ///< values at the ends of the colour map
    bool by_row = false;            ///< those values are distances from the largest of the row
    bool outlined = true;           ///< takes part in outlines and hovering
    bool actual = true;             ///< cells show the tensor's own values, not a difference or a mean
    /// What a pixel upwards adds to a number that is dragged; 0: numbers are dragged sideways.
    float by_height = 0;

    figure::Rect cell(std::int64_t row, std::int64_t col) const;
    Index index(std::int64_t row, std::int64_t col) const;
    /// The cell at a point.
    std::optional<CellAddress> at(float x, float y) const;
    /// Row and column of a cell of the same tensor, if this grid contains the cell.
    std::optional<std::pair<std::int64_t, std::int64_t>> find(const Index& index) const;
};

/// A number that stands beside its cell.
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
    std::vector<TokenWord> words;
    std::vector<TextField> fields;
    std::vector<DropDown> lists;
    std::vector<CellTag> tags;
    figure::Rect pointed{}; ///< encloses everything that a lesson points at here; may be empty
    bool scrolls = false;   ///< on screen: larger than its room
    float wanted_width = 0; ///< the width at which every number would be printed; 0: they are all printed

    /// A hotspot; labels are unique in a picture.
    void add_spot(const figure::Rect& area, std::string label, Action action, std::string tip = {});
    void move_by(float dx, float dy);
    /// Appends what another picture shows, moved by (dx, dy).
    void append(Picture other, float dx, float dy);
};

class Comparison;
struct Flash;

/// One entry of the document's history.
struct HistoryLine {
    std::string label, detail;
    bool baseline = false; ///< this state is A
    /// Of the first line: the steps before it, oldest first, from before the project was saved.
    std::vector<std::string> earlier = {};
};

/// The arguments of every drawing function.
struct DrawContext {
    const Shown& shown;
    const ViewState& view;
    const Theme& theme;
    const figure::TextMeasure& measure;
    float width = 0, height = 0;               ///< the available room
    bool controls = true;                      ///< false: a figure for paper, without switches and buttons
    std::span<const HistoryLine> history = {}; ///< of the document, oldest first
    std::size_t history_position = 0;          ///< index of the line on screen
    const Comparison* compare = nullptr;       ///< comparison with the baseline, if one is marked
    Compare showing = Compare::now;            ///< what `shown` is: B, A, or B − A
    const Flash* flash = nullptr;              ///< recently changed cells, while they are marked
    const HeadBoard* board = nullptr;          ///< board of the document's attention, if it has one
    PixelCache* pixels = nullptr;              ///< null: no pixels are kept from frame to frame
    std::string_view hovered = {};             ///< label of the hotspot under the mouse; may be empty

    const Dims& dims() const { return shown.dims(); }
    bool difference() const { return showing == Compare::difference; }
    /// The colours of head h; a mean over heads has no colours of its own.
    const HeadColours& head_colours(std::int64_t h) const;
    const Ramp& head_ramp(std::int64_t h) const;
    /// Whether weights are coloured by their logarithm.
    bool log_colours() const;
};

/// The page's own tensor, for when the pointer is on none.
TensorId page_tensor(const ViewState& view);

/// The cell in outlines and inspector: the hovered cell, else the selected one, else in B − A the cell with
/// the largest change, else the largest cell of the row stepped through (or of a default row) in the head in
/// focus. Empty only without a trace.
std::optional<CellAddress> spoken_of(const Shown& shown, const ViewState& view);

/// "weights[0][sat, cat]": an index is a word if the word is unique in the sentence, else word@position.
std::string address_text(const Shown& shown, const CellAddress& cell);
/// The label of one of these tokens: its number where there are none.
std::string word_label(const std::vector<std::string>& tokens, std::int64_t i);
/// The label of query i in addresses.
std::string query_word(const Problem& problem, std::int64_t i);
std::string key_word(const Problem& problem, std::int64_t j);

} // namespace headscope::app
