#include "core/graph/part.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <optional>
#include <span>

namespace headscope::graph {

Box box_of(const Node& node, const Part& part) {
    const Axes& axes = node.axes;
    Box box;
    for (int axis = 0; axis < axes.rank(); ++axis)
        box.count[static_cast<std::size_t>(axis)] = axes.size(axis);
    for (const auto& [name, range] : part.ranges) {
        const std::optional<int> axis = axes.find(name);
        if (!axis)
            fail_input(tr("graph.no_axis", "{} has no axis {}; it has {}", part.node, name, axes.names()));
        const std::int64_t size = axes.size(*axis);
        const std::int64_t count = range.count < 0 ? size - range.first : range.count;
        if (range.first < 0 || count < 1 || range.first + count > size)
            fail_input(tr("graph.outside_axis", "{} has {} entries along {}, and {} to {} are not among them",
                          part.node, size, name, range.first, range.first + count - 1));
        box.first[static_cast<std::size_t>(*axis)] = range.first;
        box.count[static_cast<std::size_t>(*axis)] = count;
    }
    return box;
}

Shape shape_of(const Box& box, int rank) {
    return Shape(std::span(box.count).first(static_cast<std::size_t>(rank)));
}

} // namespace headscope::graph
