#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace headscope {

/// The position of one number: one index per axis of its tensor; entries beyond the rank are ignored.
using Index = std::array<std::int64_t, 4>;

/// The extents as messages and exports show them, for any rank: "(1, 4, 8)".
std::string extents_text(std::span<const std::int64_t> extents);

/// The extents of a row-major tensor, outermost first. Rank 0 to 4; every extent is >= 0.
class Shape {
public:
    static constexpr int max_rank = 4;

    Shape() = default;
    Shape(std::initializer_list<std::int64_t> extents);
    /// At most four extents.
    explicit Shape(std::span<const std::int64_t> extents);

    int rank() const { return rank_; }
    std::int64_t operator[](int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
    /// The extent, counted from the innermost axis: back(0) is the innermost.
    std::int64_t back(int axis) const { return (*this)[rank_ - 1 - axis]; }
    /// Number of elements; 1 for rank 0.
    std::int64_t count() const;
    /// The offset of a number in row-major order.
    std::int64_t offset(const Index& at) const;
    /// The position of the number at `offset`.
    Index index(std::int64_t offset) const;
    std::string text() const { return extents_text({begin(), end()}); }

    const std::int64_t* begin() const { return extents_.data(); }
    const std::int64_t* end() const { return extents_.data() + rank_; }
    bool operator==(const Shape&) const = default;

private:
    std::array<std::int64_t, max_rank> extents_{};
    int rank_ = 0;
};

} // namespace headscope
