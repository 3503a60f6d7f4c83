#pragma once

#include "app/draw/inspector/inspector_words.h"
#include "app/draw/kit/format.h"
#include "app/draw/panels/guide_texts.h"
#include "app/state/block.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace headscope::app {

/// The row and the head that a guide text describes, and access to their numbers.
struct GuideContext {
    const Shown& shown;
    const Problem& problem;
    const Dims& dims;
    std::int64_t b, h, i;
    std::optional<CellAddress> marked; ///< the cell that the canvas marks while the mouse is not over a cell

    GuideContext(const Shown& s, const ViewState& view)
        : shown(s), problem(s.problem()), dims(s.dims()), b(view.batch), h(view.head),
          i(view.row >= 0 ? std::min(view.row, dims.Tq - 1) : std::min<std::int64_t>(2, dims.Tq - 1)) {
        ViewState still = view;
        still.hover.reset();
        marked = current_cell(shown, still);
    }

    /// The column of the marked cell if it is in this row of the tensor, otherwise `other`.
    std::int64_t marked_column(TensorId id, const Index& row, std::int64_t other) const {
        if (!marked || marked->tensor != id)
            return other;
        const auto across = static_cast<std::size_t>(col_axis(id));
        Index at = marked->at;
        const std::int64_t column = std::exchange(at[across], row[across]);
        return at == row ? column : other;
    }

    std::string query() const { return say_query(problem, i); }
    std::string key(std::int64_t j) const { return say_key(problem, j); }
    double at(TensorId id, const Index& index) const { return static_cast<double>(shown.value({id, index})); }
    /// Row i of one of the stages `scores` to `weights`, in the focused head.
    std::vector<double> row(TensorId id) const { return row_of(id, h); }
    std::vector<double> row_of(TensorId id, std::int64_t head) const {
        std::vector<double> out;
        for (std::int64_t j = 0; j < dims.Tk; ++j)
            out.push_back(at(id, {b, head, i, j}));
        return out;
    }
    bool is_fully_masked(std::int64_t head) const { return fully_masked(*shown.trace, b, head, i); }
    /// The column of output row i with the largest absolute value.
    std::int64_t output_column() const {
        std::int64_t best = 0;
        for (std::int64_t d = 1; d < dims.D; ++d)
            if (std::abs(at(TensorId::output, {b, i, d})) > std::abs(at(TensorId::output, {b, i, best})))
                best = d;
        return best;
    }
};

// Shared by all texts of the guide.
namespace guide {

inline std::int64_t index_of_largest(const std::vector<double>& row) {
    return std::ranges::max_element(row) - row.begin();
}

/// The number of entries of a row that equal its maximum.
inline std::int64_t ties(const std::vector<double>& row) {
    return std::ranges::count(row, *std::ranges::max_element(row));
}

} // namespace guide

/// term: c2p or p2c.
GuideText say_relative(const GuideContext& s, TensorId term);
GuideText say_scores(const GuideContext& s);
GuideText say_scaled(const GuideContext& s);
GuideText say_masked(const GuideContext& s);
GuideText say_weights(const GuideContext& s);

} // namespace headscope::app
