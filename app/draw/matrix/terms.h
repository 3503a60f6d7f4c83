#pragma once

#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace headscope::app {

/// One number of a sum, written as a product where it is one.
struct Term {
    std::string label;
    std::optional<std::array<double, 2>> factors = {};
    double value = 0;
    std::int64_t head = -1; ///< whose colour its bar has; -1: neutral
};

/// Terms with a sub-total of their own.
struct TermGroup {
    std::vector<Term> terms;
    std::string name = {}; ///< of the sub-total; empty: it has none
    double subtotal = 0;   ///< as the trace has it
    std::int64_t head = -1;
};

/// A sum written out: terms or groups of terms, single numbers added to them, and the total.
struct TermTable {
    std::array<std::string, 4> columns = {}; ///< headings: the label, both factors, the product; empty: none
    bool words = false;                      ///< labels are words rather than numbers
    bool signs = false;                      ///< positive numbers carry a "+"
    std::vector<TermGroup> groups = {};
    std::vector<Term> others = {}; ///< added after the groups: a bias
    std::string name;              ///< of the total; empty: it is not written
    double total = 0;              ///< as the trace has it
};

inline constexpr std::size_t longest_table = 16; ///< terms that are all written out
inline constexpr std::size_t largest_terms = 12; ///< of a longer sum, so many are

/// Writes the table. Decimals rise from 2 to 4 until every printed sum holds; a line that still does not
/// reads "≈". Decimals fall where the panel is too narrow. Returns the decimals used.
int draw_terms(Sheet& sheet, const TermTable& table);

/// The places of the `most` largest numbers by size, in ascending order.
std::vector<std::size_t> largest_places(const std::vector<double>& numbers, std::size_t most);

/// Decimals (`fewest` to 4) at which `step` takes the numbers as printed to the result as printed; with 4 it
/// may not, and then the line is to be written with "≈".
SumFormat step_format(const std::vector<double>& from, double to,
                      const std::function<double(const std::vector<double>&)>& step, int fewest = 2);

/// "≈ " where a printed line does not hold exactly.
std::string about(bool approximate);

/// Colour of head h, or of what no head owns when h is negative.
figure::Color bar_color(const DrawContext& context, std::int64_t h);

} // namespace headscope::app
