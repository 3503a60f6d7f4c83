#include "core/base/error.h"

#include <cstddef>

namespace headscope {

namespace {

/// Returns true for a UTF-8 continuation byte.
bool is_continuation_byte(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Replaces control characters: NUL would end what() early, and others would control a terminal.
std::string without_controls(const std::string& sentence) {
    std::string out;
    for (const char c : sentence)
        if ((c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7F')
            out += "\xEF\xBF\xBD";
        else
            out += c;
    return out;
}

/// Cuts out the middle of a long sentence, because the problem is at the beginning and the remedy at the end.
std::string shortened(const std::string& sentence) {
    if (sentence.size() <= 2000)
        return sentence;
    std::size_t first = 1300, last = sentence.size() - 600;
    while (is_continuation_byte(sentence[first]))
        --first;
    while (is_continuation_byte(sentence[last]))
        ++last;
    return sentence.substr(0, first) + " ... " + sentence.substr(last);
}

} // namespace

Error::Error(ErrorKind kind, const std::string& sentence)
    : std::runtime_error(shortened(without_controls(sentence))), kind_(kind) {}

} // namespace headscope
