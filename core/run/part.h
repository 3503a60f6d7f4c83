#pragma once

#include "core/graph/evaluate.h"
#include "core/run/head_set.h"

namespace headscope::run {

using graph::Box;
using graph::box_of;
using graph::for_each_cell;
using graph::shape_of;

/// The smallest box that contains both.
Box bounding_box(const Box& a, const Box& b);
/// The same part of the first two axes, (B, T), and all of the others.
Box with_rows(const Box& rows, const Shape& shape);
bool is_whole(const Box& box, const Shape& shape);
/// A copy of a part.
TensorPtr cut(const Tensor& tensor, const Box& box);

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
