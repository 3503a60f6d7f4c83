#pragma once

#include "core/tensor/shape.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::graph {

/// A named axis with its size: {"Tq", 15}. The name of a product joins the names of two dimensions:
/// {"H·dk", 64, 16} runs through the 16 numbers of one head, then through those of the next.
struct Axis {
    std::string name;
    std::int64_t size = 0;
    std::int64_t inner = 1; ///< size of the second dimension of a product; 1 for a single dimension

    bool is_product() const;
    /// The two dimensions of a product.
    Axis outer_axis() const;
    Axis inner_axis() const;
    bool operator==(const Axis&) const = default;
};

/// The axis "outer·inner".
Axis product(const Axis& outer, const Axis& inner);

/// The axes of an array, outermost first; at most Shape::max_rank.
class Axes {
public:
    Axes() = default;
    Axes(std::initializer_list<Axis> axes) : axes_(axes) {}
    explicit Axes(std::vector<Axis> axes) : axes_(std::move(axes)) {}

    int rank() const { return static_cast<int>(axes_.size()); }
    const Axis& operator[](int axis) const { return axes_[static_cast<std::size_t>(axis)]; }
    /// Counted from the innermost axis: back(0) is the innermost.
    const Axis& back(int axis) const { return (*this)[rank() - 1 - axis]; }
    std::int64_t size(int axis) const { return (*this)[axis].size; }
    Shape shape() const;
    std::int64_t count() const { return shape().count(); }
    std::optional<int> find(std::string_view name) const;
    /// The same axes, with another axis in one position.
    Axes with(int axis, Axis other) const;

    std::string names() const; ///< "B, Tq, D"
    std::string text() const;  ///< "(B 1, Tq 15, D 64)", for messages
    std::vector<Axis>::const_iterator begin() const { return axes_.begin(); }
    std::vector<Axis>::const_iterator end() const { return axes_.end(); }
    bool operator==(const Axes&) const = default;

private:
    std::vector<Axis> axes_;
};

/// Returns true if an array with axes `from` can be repeated to the axes `to`: each axis of `from` is one of
/// `to`, in the same order, with the same size or size 1.
bool can_repeat(const Axes& from, const Axes& to);
/// The cell of the array with axes `from` that stands for cell `at` of the array with axes `to`.
Index repeated_cell(const Axes& from, const Axes& to, const Index& at);

/// The head, among `heads`, that head h of `all_heads` reads: queries share keys and values in groups
/// (Ainslie et al. 2023, "GQA").
inline std::int64_t shared_head(std::int64_t h, std::int64_t all_heads, std::int64_t heads) {
    return h / (all_heads / heads);
}

} // namespace headscope::graph
