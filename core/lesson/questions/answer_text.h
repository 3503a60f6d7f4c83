#pragma once

#include "core/lesson/target.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lesson {

// The texts of answers, which grade() reads.

/// The values that a typed number can mean: "1,024" is 1024 in English and 1.024 in German. Reads "25 %" and
/// "1/4". Empty if the text is not a number.
std::vector<double> numbers_meant(const std::string& typed);
/// The sizes in a typed shape, "(4, 2)" or "4 x 2"; empty if it is malformed.
std::vector<std::int64_t> sizes_in(const std::string& typed);
/// The indices, from 0, that the numbers of an order or a choice name; empty if it is malformed.
std::vector<std::size_t> numbers_in(const std::string& answer);
/// The answer for a click on one cell, given its index with the batch.
std::string cell_answer(TensorId tensor, const Index& at);
/// The answers for clicks on all these cells, in row-major order.
std::vector<std::string> cell_answers(const CellRange& cells);

/// The parts between separators, without blanks around them.
std::vector<std::string> parts_of(std::string_view text, char separator);
std::string replace_all(std::string text, std::string_view from, std::string_view to);

} // namespace headscope::lesson
