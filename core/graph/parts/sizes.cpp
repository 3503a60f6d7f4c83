#include "core/graph/parts/sizes.h"

#include <vector>

namespace headscope::graph {

Axis axis_of(headscope::Axis kind, const Dims& dims) {
    const AxisRow& row = axis_row(kind);
    return {axis_name(kind, dims), extent(kind, dims), row.times == nullptr ? 1 : dims.*row.times};
}

Axes axes_of(std::initializer_list<headscope::Axis> kinds, const Dims& dims) {
    std::vector<Axis> axes;
    for (const headscope::Axis kind : kinds)
        axes.push_back(axis_of(kind, dims));
    return Axes(std::move(axes));
}

} // namespace headscope::graph
