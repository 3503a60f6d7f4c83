#include "core/analysis/stage_difference.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::analysis {

double cell_distance(float a, float b) {
    if (std::isinf(a) && a == b)
        return 0.0;
    const double d = std::abs(static_cast<double>(a) - static_cast<double>(b));
    return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

double largest_finite(std::span<const float> values) {
    double largest = 0;
    for (const float v : values)
        if (std::isfinite(v))
            largest = std::max(largest, std::abs(static_cast<double>(v)));
    return largest;
}

std::vector<StageDifference> stage_differences(const Trace& a, const Trace& b) {
    std::vector<StageDifference> found;
    for (const TensorInfo& info : stage_table()) {
        const Tensor *first = a.stage(info.id), *second = b.stage(info.id);
        if (first == nullptr || second == nullptr)
            continue;
        if (first->shape() != second->shape())
            throw Error(ErrorKind::internal,
                        std::string(info.name) + " has two shapes in two traces of one problem");
        StageDifference row{.stage = info.id, .magnitude = largest_finite(first->values())};
        std::int64_t worst = 0;
        for (std::int64_t i = 0; i < first->count(); ++i)
            if (const double d = cell_distance(first->data()[i], second->data()[i]); d > row.largest) {
                row.largest = d;
                worst = i;
            }
        row.at = first->shape().index(worst);
        found.push_back(row);
    }
    return found;
}

} // namespace headscope::analysis
