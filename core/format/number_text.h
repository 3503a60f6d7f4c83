#pragma once

#include <cstdint>
#include <string>

namespace headscope::format {

// Numbers as every text file and the clipboard hold them, whatever the locale.

/// Appends the shortest decimal text that reads back as the same float32; "-inf", "inf" and "nan" for the
/// others.
void append_number(std::string& out, float number);

void append_integer(std::string& out, std::int64_t number);

} // namespace headscope::format
