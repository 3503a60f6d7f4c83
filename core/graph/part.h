#pragma once

#include "core/graph/node.h"
#include "core/tensor/shape.h"

#include <cstdint>
#include <map>
#include <string>

namespace headscope::graph {

/// The indices [first, first + count) of an axis.
struct Range {
    std::int64_t first = 0;
    std::int64_t count = -1; ///< -1: up to the end
    bool operator==(const Range&) const = default;
};

/// A node, or a part of it: some heads, some rows, one position.
struct Part {
    std::string node;                         ///< name or alias
    std::map<std::string, Range> ranges = {}; ///< by the name of the axis; other axes are whole
    bool operator==(const Part&) const = default;
};

/// A part of an array by index: `count` cells from `first` on along each axis.
struct Box {
    Index first{}, count{};
    bool operator==(const Box&) const = default;
};

/// Throws Error(input) with the node's name for a range outside its axes, or of an axis that it lacks.
Box box_of(const Node& node, const Part& part);
/// The shape of a part of an array of that rank.
Shape shape_of(const Box& box, int rank);

/// Calls visit(offset in the array, offset in the part, count) for each run of adjacent cells of the part
/// along the innermost axis.
template<class Visit>
void for_each_run(const Shape& shape, const Box& box, const Visit& visit) {
    const Shape part = shape_of(box, shape.rank());
    const std::int64_t count = shape.rank() == 0 ? 1 : part.back(0);
    for (std::int64_t offset = 0; offset < part.count(); offset += count) {
        Index at = part.index(offset);
        for (std::size_t axis = 0; axis < at.size(); ++axis)
            at[axis] += box.first[axis];
        visit(shape.offset(at), offset, count);
    }
}

/// Calls visit(offset in the array, offset in the part) for each cell of the part.
template<class Visit>
void for_each_cell(const Shape& shape, const Box& box, const Visit& visit) {
    for_each_run(shape, box, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
        for (std::int64_t n = 0; n < count; ++n)
            visit(from + n, to + n);
    });
}

} // namespace headscope::graph
