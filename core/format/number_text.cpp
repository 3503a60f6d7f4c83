#include "core/format/number_text.h"

#include <array>
#include <charconv>

namespace headscope::format {

void append_number(std::string& out, float number) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

double double_of_decimal_text(float number) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    double value = number;
    std::from_chars(digits.data(), end, value);
    return value;
}

void append_integer(std::string& out, std::int64_t number) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

} // namespace headscope::format
