#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::text {

/// Treatment of control characters, such as line ends and tabs, in a one-line text field.
enum class ControlCharacters : std::uint8_t {
    trimmed, ///< replaced by spaces; removed at both ends of a pasted text
    spaces,
    kept, ///< kept in the text, and shown as visible signs
};

/// The visible sign for a control character (below U+0020): ⏎ for a line end, ⇥ for a tab, else a control
/// picture such as ␀.
char32_t control_sign(char32_t control);
/// A text with visible signs instead of its control characters, for display.
std::string with_control_signs(std::string_view text);

/// Returns the placeholder of a control character in a field that keeps it. It is one of the 32 code points
/// that Unicode reserves for such internal use, so that it differs from a sign that the user typed.
constexpr char32_t field_placeholder(char32_t control) {
    return 0xFDD0 + control;
}
/// The content of a field that shows `text`.
std::string to_field(std::string_view text, ControlCharacters controls);
/// The text that a field's content represents.
std::string from_field(std::string_view field, ControlCharacters controls);
/// The content that a field receives for a pasted text.
std::string pasted_into_field(std::string_view text, ControlCharacters controls);

} // namespace headscope::text
