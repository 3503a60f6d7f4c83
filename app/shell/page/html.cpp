#include "app/shell/page/html.h"

#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace headscope::app::html {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text::plain_text(text))
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    return out;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t three = 0;
        for (std::size_t b = 0; b < 3; ++b)
            three = three << 8U | (i + b < bytes.size() ? static_cast<unsigned char>(bytes[i + b]) : 0U);
        for (std::size_t d = 0; d < 4; ++d)
            out += i + d <= bytes.size() ? digits[three >> (18 - 6 * d) & 0x3FU] : '=';
    }
    return out;
}

std::string css(figure::Color color) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", color & 0xFFU, color >> 8 & 0xFFU,
                  color >> 16 & 0xFFU);
    return text.data();
}

std::string scrolling(const std::string& table) {
    return "<div class=\"scrolls\" tabindex=\"0\" role=\"group\" aria-label=\"" +
           escaped(tr("html.table", "Table")) + "\">" + table + "</div>\n";
}

std::string filled(std::string_view page, const std::map<std::string, std::string>& values) {
    std::string out;
    std::size_t at = 0;
    for (std::size_t begin = 0; (begin = page.find("{{", at)) != std::string_view::npos;) {
        const std::size_t end = page.find("}}", begin);
        out += page.substr(at, begin - at);
        out += values.at(std::string(page.substr(begin + 2, end - begin - 2)));
        at = end + 2;
    }
    out += page.substr(at);
    return out;
}

} // namespace headscope::app::html
