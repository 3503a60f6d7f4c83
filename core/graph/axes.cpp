#include "core/graph/axes.h"

#include "core/base/joined.h"

#include <algorithm>

namespace headscope::graph {

namespace {

constexpr std::string_view times = "·";

} // namespace

bool Axis::is_product() const {
    return name.find(times) != std::string::npos;
}

Axis Axis::outer_axis() const {
    return {name.substr(0, name.find(times)), size / inner};
}

Axis Axis::inner_axis() const {
    return {name.substr(name.find(times) + times.size()), inner};
}

Axis product(const Axis& outer, const Axis& inner) {
    return {outer.name + std::string(times) + inner.name, outer.size * inner.size, inner.size};
}

Shape Axes::shape() const {
    std::array<std::int64_t, Shape::max_rank> sizes{};
    for (int axis = 0; axis < rank(); ++axis)
        sizes[static_cast<std::size_t>(axis)] = size(axis);
    return Shape(std::span<const std::int64_t>(sizes.data(), axes_.size()));
}

std::optional<int> Axes::find(std::string_view name) const {
    const auto found = std::ranges::find(axes_, name, &Axis::name);
    return found == axes_.end() ? std::nullopt : std::optional(static_cast<int>(found - axes_.begin()));
}

Axes Axes::with(int axis, Axis other) const {
    Axes changed = *this;
    changed.axes_[static_cast<std::size_t>(axis)] = std::move(other);
    return changed;
}

std::string Axes::names() const {
    return joined(axes_, &Axis::name);
}

std::string Axes::text() const {
    return "(" + joined(axes_, [](const Axis& axis) { return axis.name + " " + std::to_string(axis.size); }) +
           ")";
}

bool can_repeat(const Axes& from, const Axes& to) {
    int next = 0; // axis of `to`
    for (const Axis& axis : from) {
        while (next < to.rank() && to[next].name != axis.name)
            ++next;
        if (next == to.rank() || (axis.size != to.size(next) && axis.size != 1))
            return false;
        ++next;
    }
    return true;
}

Index repeated_cell(const Axes& from, const Axes& to, const Index& at) {
    Index cell{};
    int next = 0;
    for (int axis = 0; axis < from.rank(); ++axis, ++next) {
        while (to[next].name != from[axis].name)
            ++next;
        cell[static_cast<std::size_t>(axis)] = from.size(axis) == 1 ? 0 : at[static_cast<std::size_t>(next)];
    }
    return cell;
}

} // namespace headscope::graph
