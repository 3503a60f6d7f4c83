#include "core/hub/http.h"

#include <algorithm>
#include <cctype>

namespace headscope::hub {

std::string origin_of(std::string_view url) {
    const auto lower = [](std::string_view text) {
        std::string result(text);
        std::ranges::transform(result, result.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return result;
    };
    const std::size_t end = url.find("://");
    if (end == std::string_view::npos)
        return "";
    const std::string scheme = lower(url.substr(0, end));
    if (scheme != "http" && scheme != "https")
        return "";
    std::string_view authority = url.substr(end + 3);
    authority = authority.substr(0, authority.find_first_of("/?#\\"));
    // A user's name before the host, as in https://huggingface.co@example.org.
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos)
        authority.remove_prefix(at + 1);
    std::string host = lower(authority);
    const std::size_t colon = host.rfind(':'), bracket = host.rfind(']');
    const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
    if (!has_port)
        host += scheme == "https" ? ":443" : ":80";
    return scheme + "://" + host;
}

std::string encode_url(std::string_view text, std::string_view kept) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 ||
                                           std::string_view("-_.~").find(c) != std::string_view::npos ||
                                           kept.find(c) != std::string_view::npos);
        if (plain)
            encoded += c;
        else
            encoded += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
    return encoded;
}

} // namespace headscope::hub
