#pragma once

#include "core/graph/evaluate.h"
#include "core/run/head_set.h"

namespace headscope::run {

/// A part of an array by index: `count` cells from `first` on along each axis.
struct Box {
    Index first{}, count{};
    bool operator==(const Box&) const = default;
};

/// Throws Error(input) with the node's name for a range outside its axes, or of an axis that it lacks.
Box box_of(const graph::Node& node, const graph::Part& part);
/// The smallest box that contains both.
Box bounding_box(const Box& a, const Box& b);
/// The shape of a part of an array of that rank.
Shape shape_of(const Box& box, int rank);
bool is_whole(const Box& box, const Shape& shape);
/// A copy of a part.
TensorPtr cut(const Tensor& tensor, const Box& box);

/// Calls visit(offset in the array, offset in the part) for each cell of the part.
template<class Visit>
void for_each_cell(const Shape& shape, const Box& box, const Visit& visit) {
    const Shape part = shape_of(box, shape.rank());
    for (std::int64_t offset = 0; offset < part.count(); ++offset) {
        Index at = part.index(offset);
        for (std::size_t axis = 0; axis < at.size(); ++axis)
            at[axis] += box.first[axis];
        visit(shape.offset(at), offset);
    }
}

/// The axis of a node whose cells belong to heads: "H", "Hkv", "H·dk" or the like.
struct HeadAxis {
    int axis = -1; ///< -1: none; the node then counts as one head
    std::int64_t heads = 1;
    std::int64_t width = 1; ///< cells of that axis that each head has
};
HeadAxis head_axis(const graph::Axes& axes);
/// The heads that a part touches.
HeadSet heads_of(const HeadAxis& axis, const Box& box);
/// The heads in which two arrays of one shape differ by a bit.
HeadSet different_heads(const HeadAxis& axis, const Tensor& a, const Tensor& b);

} // namespace headscope::run
