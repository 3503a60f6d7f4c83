#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

/// A table of numbers, row by row.
struct Table {
    std::int64_t rows = 0, cols = 0;
    std::vector<float> values; ///< rows * cols
};

/// Rows as lines, numbers separated by tabs, with the fewest digits that read back as the same float32: what
/// spreadsheets paste. "-inf" for a masked score.
std::string write_tsv(std::span<const float> values, std::int64_t cols);

/// What a spreadsheet copied: tabs between numbers (or, in a text without tabs, commas or semicolons and
/// blanks), a true minus sign or a hyphen. Throws Error(input) naming row and column, counted from 1, of what
/// is no finite number, or the first row of another length; an empty text is refused.
Table parse_tsv(std::string_view text);

} // namespace headscope
