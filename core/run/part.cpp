#include "core/run/part.h"

#include <algorithm>
#include <cstring>

namespace headscope::run {

Box bounding_box(const Box& a, const Box& b) {
    Box box;
    for (std::size_t axis = 0; axis < box.first.size(); ++axis) {
        box.first[axis] = std::min(a.first[axis], b.first[axis]);
        box.count[axis] =
            std::max(a.first[axis] + a.count[axis], b.first[axis] + b.count[axis]) - box.first[axis];
    }
    return box;
}

Box with_rows(const Box& rows, const Shape& shape) {
    constexpr std::size_t row_axes = 2;
    Box box;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.rank()); ++axis) {
        box.first[axis] = axis < row_axes ? rows.first[axis] : 0;
        box.count[axis] = axis < row_axes ? rows.count[axis] : shape[static_cast<int>(axis)];
    }
    return box;
}

bool is_whole(const Box& box, const Shape& shape) {
    return shape_of(box, shape.rank()) == shape;
}

TensorPtr cut(const Tensor& tensor, const Box& box) {
    auto part = std::make_shared<Tensor>(shape_of(box, tensor.shape().rank()));
    graph::for_each_run(tensor.shape(), box, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
        std::copy_n(tensor.data() + from, count, part->data() + to);
    });
    return part;
}

HeadAxis head_axis(const graph::Axes& axes) {
    const auto are_heads = [](const graph::Axis& axis) {
        return axis.name == "H" || axis.name == "Hkv" || axis.name == "Hqk";
    };
    for (int axis = 0; axis < axes.rank(); ++axis) {
        if (are_heads(axes[axis]))
            return {axis, axes.size(axis), 1};
        if (axes[axis].is_product() && are_heads(axes[axis].outer_axis()))
            return {axis, axes[axis].outer_axis().size, axes[axis].inner};
    }
    return {};
}

HeadSet heads_of(const HeadAxis& axis, const Box& box) {
    if (axis.axis < 0)
        return 1;
    const auto at = static_cast<std::size_t>(axis.axis);
    if (box.count[at] == 0)
        return 0;
    const std::int64_t last = (box.first[at] + box.count[at] - 1) / axis.width;
    HeadSet heads = 0;
    for (std::int64_t h = box.first[at] / axis.width; h <= last; ++h)
        heads |= head_bit(h, axis.heads);
    return heads;
}

HeadSet different_heads(const HeadAxis& axis, const Tensor& a, const Tensor& b) {
    const auto same_bytes = [&](std::int64_t first, std::int64_t count) {
        return std::memcmp(a.data() + first, b.data() + first,
                           static_cast<std::size_t>(count) * sizeof(float)) == 0;
    };
    if (axis.axis < 0)
        return same_bytes(0, a.count()) ? 0 : 1;
    std::int64_t run = axis.width; // adjacent numbers of one head
    for (int inner = axis.axis + 1; inner < a.shape().rank(); ++inner)
        run *= a.shape()[inner];
    HeadSet heads = 0;
    for (std::int64_t h = 0; h < axis.heads; ++h)
        for (std::int64_t first = h * run; first < a.count(); first += axis.heads * run)
            if (!same_bytes(first, run)) {
                heads |= head_bit(h, axis.heads);
                break;
            }
    return heads;
}

} // namespace headscope::run
