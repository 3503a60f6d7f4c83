#pragma once

#include "core/checkpoint/checks/reference_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headscope::checkpoint {

/// Finds the largest difference of numbers from those that they should be, for a ReferenceRow.
class LargestDifference {
public:
    /// tolerance: for small numbers; 0: the numbers must be equal.
    LargestDifference(std::string kind, std::optional<std::int64_t> layer, double tolerance)
        : row_{.kind = std::move(kind), .layer = layer}, tolerance_(tolerance) {}

    void add(double got, double expected) {
        const double gap = std::abs(got - expected);
        row_.difference =
            std::max(row_.difference, got == expected   ? 0.0
                                      : std::isnan(gap) ? std::numeric_limits<double>::infinity()
                                                        : gap);
        if (std::isfinite(expected))
            largest_ = std::max(largest_, std::abs(expected));
    }
    ReferenceRow row() const {
        constexpr double share_of_largest = 1e-6; // lost by float32 of large numbers
        ReferenceRow row = row_;
        row.allowed = tolerance_ == 0 ? 0 : tolerance_ + share_of_largest * largest_;
        return row;
    }

private:
    ReferenceRow row_;
    double tolerance_, largest_ = 0;
};

} // namespace headscope::checkpoint
