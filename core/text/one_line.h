#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::text {

/// How a text field of one line treats control characters such as line ends and tabs.
enum class ControlCharacters : std::uint8_t {
    trimmed, ///< blanks; at both ends of a pasted text they are dropped
    blanks,
    kept, ///< kept in the text, and shown as signs
};

/// The sign that shows a control character, below U+0020: ⏎ for a line end, ⇥ for a tab, else a control
/// picture such as ␀.
char32_t control_sign(char32_t control);
/// A text with signs for its control characters, for reading.
std::string with_control_signs(std::string_view text);

/// Returns the placeholder of a control character in a field that keeps it. It is one of the 32 code
/// points that Unicode reserves for such internal use, so that it differs from a sign that was typed.
constexpr char32_t field_stand_in(char32_t control) {
    return 0xFDD0 + control;
}
/// The characters of a field that holds `text`.
std::string to_field(std::string_view text, ControlCharacters controls);
/// The text of a field's characters.
std::string from_field(std::string_view field, ControlCharacters controls);
/// The characters that a field gets for a pasted text.
std::string pasted_into_field(std::string_view text, ControlCharacters controls);

} // namespace headscope::text
