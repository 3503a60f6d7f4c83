#include "core/base/error.h"

namespace headscope {

namespace {

std::string without_nul(const std::string& sentence) {
    std::string out;
    for (const char c : sentence)
        if (c == '\0')
            out += "\xEF\xBF\xBD";
        else
            out += c;
    return out;
}

} // namespace

Error::Error(ErrorKind kind, const std::string& sentence)
    : std::runtime_error(without_nul(sentence)), kind_(kind) {}

} // namespace headscope
