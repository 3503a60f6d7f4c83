#include "core/base/json.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace headscope {

namespace {

using nlohmann::json;

constexpr std::size_t max_depth = 64;

/// The parser's message without its "[json.exception...]" prefix and its source.
std::string reason(const json::exception& fault) {
    std::string text = fault.what();
    if (const auto bracket = text.find("] "); bracket != std::string::npos)
        text.erase(0, bracket + 2);
    if (const auto colon = text.find(": syntax error"); colon != std::string::npos)
        text.erase(colon, text.find(" - ", colon) == std::string::npos ? 0 : text.find(" - ", colon) - colon);
    constexpr std::size_t longest = 200;
    if (text.size() > longest)
        text = text.substr(0, longest) + " ...";
    return text;
}

// The JSON library can neither write bytes that are not UTF-8 nor read lone surrogates. Such a byte passes
// through it as a mark followed by two hexadecimal digits. The mark is the Unicode noncharacter U+FDD0; a
// mark in the text itself becomes the mark followed by two hyphens, so that every string can be restored.

constexpr std::string_view mark = "\xEF\xB7\x90", marked_mark = "\xEF\xB7\x90--",
                           hex_digits = "0123456789abcdef";

void append_marked(std::string& out, unsigned byte) {
    out += mark;
    out += hex_digits[byte >> 4U & 0xFU];
    out += hex_digits[byte & 0xFU];
}

/// Returns the number of bytes of the UTF-8 character at the beginning of `text`; 0 if there is none.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80)
        return 1;
    const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (length == 0 || text.size() < length)
        return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0U) != 0x80)
            return 0;
    const unsigned second = byte(1); // excludes overlong forms, surrogates and code points beyond U+10FFFF
    const bool excluded = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                          (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return excluded ? 0 : length;
}

std::string with_marks(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t length = character_length(bytes);
        if (length == 0)
            append_marked(out, static_cast<unsigned char>(bytes[0]));
        else if (bytes.starts_with(mark))
            out += marked_mark;
        else
            out += bytes.substr(0, length);
        bytes.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

template<class Json>
Json with_marks_in(const Json& value) {
    if (value.is_string())
        return with_marks(value.template get_ref<const std::string&>());
    if (!value.is_structured())
        return value;
    Json out = value.is_array() ? Json::array() : Json::object();
    for (const auto& [key, entry] : value.items())
        if (value.is_array())
            out.push_back(with_marks_in(entry));
        else
            out[with_marks(key)] = with_marks_in(entry);
    return out;
}

/// Replaces each mark and the two characters after it by the result of `byte` for them, or by the mark
/// itself.
template<class ByteText>
std::string without_marks(std::string_view text, const ByteText& byte) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark)) {
        out += text.substr(0, at);
        if (text.substr(at).starts_with(marked_mark))
            out += mark;
        else
            out += byte(text.substr(at + mark.size(), 2));
        text.remove_prefix(at + marked_mark.size());
    }
    return out += text;
}

std::string bytes_of_marks(std::string_view text) {
    return without_marks(text, [](std::string_view digits) {
        return static_cast<char>(hex_digits.find(digits[0]) << 4U | hex_digits.find(digits[1]));
    });
}

/// Returns the number in the escape \uXXXX at the beginning of `text`; nothing for other text.
std::optional<unsigned> escaped_code(std::string_view text) {
    constexpr std::size_t digits = 4;
    if (text.size() < 2 + digits || text[0] != '\\' || text[1] != 'u')
        return std::nullopt;
    unsigned code = 0;
    for (const char c : text.substr(2, digits)) {
        const std::size_t digit =
            hex_digits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
        if (digit == std::string_view::npos)
            return std::nullopt;
        code = code << 4U | static_cast<unsigned>(digit);
    }
    return code;
}

/// The JSON with marks instead of escaped bytes; nothing if it has no escaped byte.
std::optional<std::string> with_marked_escapes(std::string_view text) {
    constexpr std::size_t escape = 6; // characters of \uXXXX
    std::string out;
    bool found = false;
    while (!text.empty()) {
        const std::size_t plain = std::min(text.find_first_of("\\\xEF"), text.size());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty())
            break;
        const auto code = escaped_code(text);
        std::size_t length = code ? escape : std::min<std::size_t>(text[0] == '\\' ? 2 : 1, text.size());
        if (code && *code >= 0xDC80 && *code <= 0xDCFF) {
            append_marked(out, *code & 0xFFU);
            found = true;
        } else if (text.starts_with(mark) || code == 0xFDD0) {
            out += marked_mark;
            length = code ? escape : mark.size();
        } else {
            // The second half of a surrogate pair belongs to the same character.
            if (code && *code >= 0xD800 && *code <= 0xDBFF && escaped_code(text.substr(escape)))
                length = 2 * escape;
            out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return found ? std::optional(std::move(out)) : std::nullopt;
}

/// Builds the value during parsing and rejects duplicate keys: inserting a key finds the duplicate at no
/// extra cost.
class JsonBuilder final : public nlohmann::json_sax<json> {
public:
    /// `marked`: strings contain marks in place of bytes.
    JsonBuilder(const std::string& what, bool marked) : what_(what), marked_(marked) {}
    json take() { return std::move(root_); }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(marked_ ? bytes_of_marks(value) : std::move(value)); }
    bool binary(binary_t& value) override { return add(std::move(value)); }
    bool start_object(std::size_t) override { return open(json::object()); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        if (marked_)
            name = bytes_of_marks(name);
        const auto [place, is_new] = open_.back()->get_ref<json::object_t&>().try_emplace(name);
        if (!is_new)
            fail_input(tr("json.key_twice_one_object", "{} has the key \"{}\" twice in one object; keep one",
                          what_, name));
        value_ = &place->second;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const json::exception& fault) override {
        fail_input(
            tr("json.not_valid_json_correct", "{} is not valid JSON: {}; correct it", what_, reason(fault)));
    }

private:
    bool add(json value) {
        put(std::move(value));
        return true;
    }
    /// Puts a value at the current position. Pointers in open_ stay valid because open containers do not
    /// move.
    json* put(json value) {
        if (open_.empty())
            return &(root_ = std::move(value));
        if (open_.back()->is_array())
            return &open_.back()->get_ref<json::array_t&>().emplace_back(std::move(value));
        return &(*value_ = std::move(value));
    }
    bool open(json container) {
        if (open_.size() >= max_depth)
            fail_input(tr("json.nested_more_levels_deep", "{} is nested more than {} levels deep; flatten it",
                          what_, max_depth));
        open_.push_back(put(std::move(container)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    const std::string& what_;
    bool marked_;
    json root_;
    std::vector<json*> open_; ///< open containers, outermost first
    json* value_ = nullptr;   ///< the entry of the last key
};

json parse(std::string_view text, const std::string& what, bool marked) {
    try {
        JsonBuilder builder(what, marked);
        json::sax_parse(text, &builder);
        return builder.take();
    } catch (const json::exception& fault) {
        fail_input(
            tr("json.not_valid_json_correct", "{} is not valid JSON: {}; correct it", what, reason(fault)));
    }
}

template<class Json>
std::string dump(const Json& value, int indent) {
    constexpr int not_utf8 = 316;
    try {
        return value.dump(indent);
    } catch (const typename Json::type_error& fault) {
        if (fault.id != not_utf8)
            throw;
    }
    return without_marks(with_marks_in(value).dump(indent),
                         [](std::string_view digits) { return "\\udc" + std::string(digits); });
}

} // namespace

json parse_json(std::string_view text, const std::string& what) {
    return parse(text, what, false);
}

json parse_json_with_bytes(std::string_view text, const std::string& what) {
    const auto marked = with_marked_escapes(text);
    return parse(marked ? *marked : text, what, marked.has_value());
}

std::string dump_json(const json& value, int indent) {
    return dump(value, indent);
}

std::string dump_json(const nlohmann::ordered_json& value, int indent) {
    return dump(value, indent);
}

std::string shortened_json(const nlohmann::json& value, std::size_t longest) {
    const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

} // namespace headscope
