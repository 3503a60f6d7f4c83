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
#include <vector>

namespace headscope::app {

/// Where a matrix stands in a picture: for hit-testing, for outlines, and for tests that look at pixels.
struct MatrixGrid {
    TensorId tensor = TensorId::x;
    Index origin{};   ///< of its first cell
    int row_axis = 0; ///< the axis of the tensor that runs down
    int col_axis = 0; ///< and the one that runs across
    std::int64_t rows = 0, cols = 0;
    figure::Rect area;              ///< of all cells
    float pitch_x = 0, pitch_y = 0; ///< from one cell to the next
    float gap = 0;                  ///< of the pitch that is left between two cells
    bool heatmap = false;           ///< cells are coloured by value
    std::string map;                ///< name of the colour map: "head", "diverging", ...
    float low = 0, high = 0;        ///< values at the ends of the colour map
    bool outlined = true;           ///< takes part in outlines and hovering
    bool actual = true;             ///< cells show the tensor's own values, not a difference or a mean

    figure::Rect cell(std::int64_t row, std::int64_t col) const;
    Index index(std::int64_t row, std::int64_t col) const;
    /// The cell under a point.
    std::optional<CellAddress> at(float x, float y) const;
    /// Row and column of a cell of the same tensor, when it is in this grid.
    std::optional<std::pair<std::int64_t, std::int64_t>> find(const Index& index) const;
};

/// A scene and what it reacts to. All in logical pixels with the same origin.
struct Picture {
    figure::Scene scene;
    std::vector<MatrixGrid> grids;
    std::vector<Hotspot> hotspots;
    std::vector<Slider> sliders;
    std::vector<Tip> tips;
    std::vector<TextField> fields;
    figure::Rect pointed{}; ///< around all that a lesson points at; empty when it points at nothing here
    float wanted_width = 0; ///< with this much room all its numbers could be printed; 0: they are

    /// Appends another picture, moved by (dx, dy).
    void append(const Picture& other, float dx, float dy);
};

class Comparison;
struct Flash;

/// One step of the document's history.
struct HistoryLine {
    std::string label, detail;
    bool baseline = false; ///< this state is A
};

/// What every drawing function is given.
struct DrawContext {
    const Shown& shown;
    const ViewState& view;
    const Theme& theme;
    const figure::TextMeasure& measure;
    float width = 0, height = 0;               ///< the room there is
    bool controls = true;                      ///< off: a figure for paper, without switches and buttons
    std::span<const HistoryLine> history = {}; ///< of the document, oldest first
    std::size_t history_position = 0;          ///< the line that is on screen
    const Comparison* compare = nullptr;       ///< with a baseline, where one is marked
    Compare showing = Compare::now;            ///< what `shown` is: B, A, or B − A
    const Flash* flash = nullptr;              ///< cells that changed just now, while they are marked
    const HeadBoard* board = nullptr;          ///< of the document's attention, when it has one
    PixelCache* pixels = nullptr;              ///< where there is one: kept from frame to frame

    const Dims& dims() const { return shown.dims(); }
    bool difference() const { return showing == Compare::difference; }
    /// The colours of head h, and its ramp; a mean over heads has none of its own.
    const HeadColours& head_colours(std::int64_t h) const;
    const Ramp& head_ramp(std::int64_t h) const;
    /// Weights are coloured by their logarithm.
    bool log_colours() const;
};

/// The tensor that a page speaks of when nothing is pointed at.
TensorId page_tensor(const ViewState& view);

/// The cell that outlines and inspector speak of: the hovered one, the selected one, else the largest of the
/// row that is stepped through (or of a row in the middle) in the head in focus; in B − A the largest change.
/// Empty only without a trace.
std::optional<CellAddress> spoken_of(const Shown& shown, const ViewState& view);

/// "weights[0][sat, cat]": cells are addressed by words where the word is unique in the sentence, else
/// word@position.
std::string address_text(const Shown& shown, const CellAddress& cell);
/// The label of query i or key j as addresses write it.
std::string query_word(const Problem& problem, std::int64_t i);
std::string key_word(const Problem& problem, std::int64_t j);

} // namespace headscope::app
