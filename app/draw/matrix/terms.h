#pragma once

#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace headscope::app {

/// One term of a sum, written as a product if it has factors.
struct Term {
    std::string label;
    std::optional<std::array<double, 2>> factors = {};
    double value = 0;
    std::int64_t head = -1; ///< the head whose color the bar has; -1: neutral
};

/// Terms with their own subtotal.
struct TermGroup {
    std::vector<Term> terms;
    std::string name = {}; ///< name of the subtotal; empty: there is none
    double subtotal = 0;   ///< from the trace
    std::int64_t head = -1;
};

/// A written-out sum: terms or groups of terms, single numbers added to them, and the total.
struct TermTable {
    std::array<std::string, 4> columns = {}; ///< headings: label, both factors, product; may be empty
    bool words = false;                      ///< labels are words, not numbers
    bool signs = false;                      ///< positive numbers have a "+"
    std::vector<TermGroup> groups = {};
    std::vector<Term> single_terms = {}; ///< added after the groups: a bias
    std::string name;                    ///< name of the total; empty: the total is not written
    double total = 0;                    ///< from the trace
};

inline constexpr std::size_t longest_table = 16; ///< up to this number, all terms are written
inline constexpr std::size_t largest_terms = 12; ///< the number of terms written of a longer sum

/// Writes the table. The number of decimals rises from 2 to 4 until every printed sum is exact; a line that
/// is still not exact is printed with "≈". Decimals are dropped if the panel is too narrow. Returns the
/// number of decimals.
int draw_terms(Sheet& sheet, const TermTable& table);

/// The indices of the `most` numbers with the largest magnitudes, in ascending order.
std::vector<std::size_t> largest_indices(const std::vector<double>& numbers, std::size_t most);

/// The number of decimals (`fewest` to 4) for which `step` maps the printed numbers to the printed result. If
/// 4 are not enough, the line must be printed with "≈".
SumFormat step_format(const std::vector<double>& from, double to,
                      const std::function<double(const std::vector<double>&)>& step, int fewest = 2);

/// "≈ " if a printed line is not exact.
std::string approximate_prefix(bool approximate);

/// The color of head h, or the neutral color if h is negative.
figure::Color bar_color(const DrawContext& context, std::int64_t h);

} // namespace headscope::app
