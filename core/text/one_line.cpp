#include "core/text/one_line.h"

#include <algorithm>

namespace headscope::text {

namespace {

// UTF-8 of the placeholders: these two bytes, then first_stand_in plus the control character.
constexpr std::string_view stand_in_lead = "\xEF\xB7";
constexpr unsigned char first_stand_in = 0x90, controls_end = 0x20;

bool is_control(char c) {
    return static_cast<unsigned char>(c) < controls_end;
}

/// Returns true if a field shows the text unchanged.
bool is_plain(std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return is_control(c) || c == stand_in_lead.front(); });
}

/// Returns true if there is a placeholder at `at`.
bool is_placeholder(std::string_view text, std::size_t at) {
    if (text.size() - at < 3 || text.substr(at, 2) != stand_in_lead)
        return false;
    const auto last = static_cast<unsigned char>(text[at + 2]);
    return last >= first_stand_in && last < first_stand_in + controls_end;
}

std::string with_spaces(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool second_half = text[at] == '\n' && at > 0 && text[at - 1] == '\r';
        if (!second_half)
            out += is_control(text[at]) ? ' ' : text[at];
    }
    return out;
}

std::string with_placeholders(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at)
        if (is_control(text[at])) {
            out += stand_in_lead;
            out += static_cast<char>(first_stand_in + static_cast<unsigned char>(text[at]));
        } else if (is_placeholder(text, at)) { // otherwise from_field would turn it into a control character
            out += "\uFFFD";
            at += 2;
        } else {
            out += text[at];
        }
    return out;
}

} // namespace

char32_t control_sign(char32_t control) {
    constexpr char32_t pictures = 0x2400, line_end = 0x23CE, tab = 0x21E5;
    return control == U'\n' ? line_end : control == U'\t' ? tab : pictures + control;
}

std::string with_control_signs(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text)
        if (is_control(c)) {
            const char32_t sign = control_sign(static_cast<unsigned char>(c));
            for (const char32_t byte :
                 {0xE0U | sign >> 12U, 0x80U | (sign >> 6U & 0x3FU), 0x80U | (sign & 0x3FU)})
                out += static_cast<char>(byte);
        } else {
            out += c;
        }
    return out;
}

std::string to_field(std::string_view text, ControlCharacters controls) {
    if (is_plain(text))
        return std::string(text);
    return controls == ControlCharacters::kept ? with_placeholders(text) : with_spaces(text);
}

std::string from_field(std::string_view field, ControlCharacters controls) {
    if (controls != ControlCharacters::kept || is_plain(field))
        return std::string(field);
    std::string out;
    out.reserve(field.size());
    for (std::size_t at = 0; at < field.size(); ++at)
        if (is_placeholder(field, at)) {
            out += static_cast<char>(static_cast<unsigned char>(field[at + 2]) - first_stand_in);
            at += 2;
        } else {
            out += field[at];
        }
    return out;
}

std::string pasted_into_field(std::string_view text, ControlCharacters controls) {
    if (controls == ControlCharacters::trimmed) {
        while (!text.empty() && is_control(text.front()))
            text.remove_prefix(1);
        while (!text.empty() && is_control(text.back()))
            text.remove_suffix(1);
    }
    return to_field(text, controls);
}

} // namespace headscope::text
