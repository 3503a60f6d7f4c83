#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace headscope {

/// The text without leading and trailing characters of `blanks`.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks) {
    const std::size_t begin = text.find_first_not_of(blanks);
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// The number that the entire text represents for std::from_chars; nothing if the text is not such a number.
template<class Number>
std::optional<Number> number_of(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

} // namespace headscope
