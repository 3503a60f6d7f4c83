#include "core/tensor/shape.h"

#include "core/base/error.h"
#include "core/base/joined.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace headscope {

Shape::Shape(std::initializer_list<std::int64_t> extents)
    : Shape(std::span(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::int64_t> extents) : rank_(static_cast<int>(extents.size())) {
    if (rank_ > max_rank)
        throw Error(ErrorKind::internal,
                    "a shape of rank " + std::to_string(rank_) + " was asked for; at most 4 axes are known");
    std::ranges::copy(extents, extents_.begin());
}

std::int64_t Shape::count() const {
    return std::accumulate(begin(), end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Shape::offset(const Index& at) const {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank_); ++axis)
        offset = offset * extents_[axis] + at[axis];
    return offset;
}

Index Shape::index(std::int64_t offset) const {
    Index at{};
    for (auto axis = static_cast<std::size_t>(rank_); axis-- > 0;) {
        at[axis] = offset % extents_[axis];
        offset /= extents_[axis];
    }
    return at;
}

std::string extents_text(std::span<const std::int64_t> extents) {
    return "(" + joined(extents) + ")";
}

} // namespace headscope
