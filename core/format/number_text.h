#pragma once

#include <cstdint>
#include <string>

namespace headscope::format {

// Numbers in text files and on the clipboard, independent of the locale.

/// Appends the shortest decimal text that reads back as the same float32; "-inf", "inf" and "nan" for numbers
/// that are not finite.
void append_number(std::string& out, float number);

/// The double that the decimal text of append_number represents: 0.1 for 0.1F.
double double_of_decimal_text(float number);

void append_integer(std::string& out, std::int64_t number);

} // namespace headscope::format
