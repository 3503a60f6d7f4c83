#pragma once

#include "app/draw/kit/picture.h"

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace headscope::app {

/// Finds the smallest and the largest number of large matrices and keeps them, so that a report after each
/// frame does not read millions of numbers again. For one thread.
class GridExtremes {
public:
    GridExtremes();
    ~GridExtremes();
    GridExtremes(const GridExtremes&) = delete;
    GridExtremes& operator=(const GridExtremes&) = delete;

    /// The extremes of the finite numbers of a grid whose cells `shown` knows: `min`, `max` and their row and
    /// column in the grid, `min_at` and `max_at`; the count of others as `not_finite`, if there are any.
    nlohmann::json of(const Shown& shown, const MatrixGrid& grid);

private:
    struct Kept;
    std::vector<Kept> kept_; ///< newest last
};

/// Returns true if `shown` knows the numbers of all cells of a grid.
bool knows_cells(const Shown& shown, const MatrixGrid& grid);

} // namespace headscope::app
