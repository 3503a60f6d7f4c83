#pragma once

#include <cstdint>

namespace headscope {

/// The rows of a table of relative positions: one for each distance i - j from key j to query i, or with
/// buckets one for each near distance and one for each range of distances further away (He et al. 2021,
/// "DeBERTa", equation 3; with buckets, as Hugging Face's DeBERTa-v2 computes them).
struct RelativeRows {
    std::int64_t span = 0;     ///< the table has 2 span rows; distance 0 has row `span`
    std::int64_t buckets = 0;  ///< 0: none; else at least 2, and span = buckets
    std::int64_t furthest = 0; ///< with buckets: the last range ends before this distance; above 1

    std::int64_t count() const { return 2 * span; }
    /// The row of a distance i - j, in [0, count()). Distances beyond the table have its first or last row.
    std::int64_t row_of(std::int64_t distance) const;
    bool operator==(const RelativeRows&) const = default;
};

} // namespace headscope
