#pragma once

#include "core/graph/operation.h"

#include <limits>
#include <string>
#include <string_view>

namespace headscope::graph::ops {

// Helpers of the operations.

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Throws Error(input) unless the input has `rank` axes.
void expect_rank(const Call& call, std::size_t input, int rank);
/// Throws Error(input) with what the input should have, unless it fits.
void expect(const Call& call, std::size_t input, bool fits, const std::string& wanted);

/// Index `at` with another number on one axis.
inline Index with(Index at, int axis, std::int64_t number) {
    at[static_cast<std::size_t>(axis)] = number;
    return at;
}
/// The number of `at` on the innermost axis of an array of this rank.
inline std::int64_t column(const Index& at, int rank) {
    return at[static_cast<std::size_t>(rank - 1)];
}

/// The whole row, along the innermost axis, of the cell `at` of an input.
ReadSpan row_of(const Call& call, std::size_t input, const Index& at);
/// A single cell.
inline ReadSpan one_cell(std::size_t input, const Index& at) {
    return {input, at, 0, 1};
}

/// A cell of an input as a factor.
Factor factor(const Call& call, std::size_t input, const Index& at);
/// A number that is not a cell.
inline Factor number(double value, std::string symbol = {}) {
    return {.value = value, .cell = {}, .symbol = std::move(symbol)};
}

/// The shortest text that reads back as the same number: "1e-05"; a float32 reads back as the same float32.
std::string number_text(double value);
/// A number in a formula for people: at most four significant digits.
std::string rounded_text(double value);
/// "[:, None, :]": the text after an array in Python that gives it the axes `to`, by new axes of size 1;
/// empty if it has them.
std::string python_repeated(const Axes& from, const Axes& to);
/// "(H, dk)": the sizes of two axes, for unflatten.
std::string python_pair(const Axis& a, const Axis& b);
/// ".repeat_interleave(H // Hkv, dim=1)": repeats the heads of the second array for those of the first; empty
/// if it has as many.
std::string python_shared_heads(const Axes& all_heads, const Axes& heads);
/// The comment before lines with python_shared_heads; empty if it is.
std::string python_sharing_comment(const Axes& all_heads, const Axes& heads);

} // namespace headscope::graph::ops
