#include "core/base/error.h"

#include <cstddef>

namespace headscope {

namespace {

/// Whether a character of UTF-8 goes on here.
bool goes_on(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// NUL would end what() early, and other control characters would steer a terminal.
std::string without_controls(const std::string& sentence) {
    std::string out;
    for (const char c : sentence)
        if ((c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7F')
            out += "\xEF\xBF\xBD";
        else
            out += c;
    return out;
}

/// Without the middle of what is too long: what is wrong stands at the beginning, what to do at the end.
std::string shortened(const std::string& sentence) {
    if (sentence.size() <= 2000)
        return sentence;
    std::size_t first = 1300, last = sentence.size() - 600;
    while (goes_on(sentence[first]))
        --first;
    while (goes_on(sentence[last]))
        ++last;
    return sentence.substr(0, first) + " ... " + sentence.substr(last);
}

} // namespace

Error::Error(ErrorKind kind, const std::string& sentence)
    : std::runtime_error(shortened(without_controls(sentence))), kind_(kind) {}

} // namespace headscope
