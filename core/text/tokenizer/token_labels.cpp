#include "core/text/tokenizer/token_labels.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace headscope::text {

namespace {

constexpr std::string_view replacement = "\uFFFD";
constexpr std::string_view metaspace = "\u2581";
constexpr std::size_t longest_character = 4; ///< bytes of UTF-8

std::string visible(std::string text, SpaceMark mark) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> marks{
        {{metaspace, " "}, {"\r", "␍"}, {"\n", "⏎"}, {"\t", "⇥"}}};
    for (const auto& [from, to] : marks)
        for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
    if (text.find_first_not_of(' ') == std::string::npos) {
        std::string blanks;
        for (std::size_t n = 0; n < text.size(); ++n)
            blanks += "␣";
        return blanks;
    }
    // Shows other control characters as bytes.
    std::string shown;
    for (const char c : text) {
        char byte[8];
        std::snprintf(byte, sizeof byte, "<0x%02X>", static_cast<unsigned char>(c));
        shown += (c >= 0 && c < ' ') || c == 0x7F ? std::string(byte) : std::string(1, c);
    }
    text = std::move(shown);
    if (text.front() == ' ')
        text.replace(0, 1, mark == SpaceMark::dot ? "·" : "");
    return text;
}

bool whole(const std::string& text) {
    return !text.empty() && text.find(replacement) == std::string::npos;
}

/// The text of one token; empty if the token is only part of a character.
std::string label_of_token(const Tokenizer& tokenizer, TokenId id, SpaceMark mark) {
    const std::string token(tokenizer.token_text(id));
    if (token.empty())
        return "#" + std::to_string(id);
    // A decoder drops these marks at the start of a text.
    if (token.starts_with("##") || token.find(metaspace) != std::string::npos)
        return visible(token, mark);
    const std::string text = tokenizer.decode(std::span(&id, 1), false);
    return whole(text) ? visible(text, mark) : std::string();
}

} // namespace

std::vector<std::string> token_labels(const Tokenizer& tokenizer, std::span<const TokenId> ids,
                                      SpaceMark mark) {
    std::vector<std::string> labels;
    for (const TokenId id : ids)
        labels.push_back(label_of_token(tokenizer, id, mark));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (!labels[i].empty())
            continue;
        std::size_t count = 0;
        for (std::size_t n = 2; n <= longest_character && i + n <= ids.size() && count == 0; ++n) {
            const std::string text = tokenizer.decode(ids.subspan(i, n), false);
            if (labels[i + n - 1].empty() && whole(text)) {
                count = n;
                for (std::size_t part = 0; part < n; ++part)
                    labels[i + part] =
                        visible(text, mark) + " " + std::to_string(part + 1) + "/" + std::to_string(n);
            }
        }
        if (count == 0)
            labels[i] = tokenizer.token_text(ids[i]);
    }
    return labels;
}

std::string token_label(const Tokenizer& tokenizer, TokenId id, SpaceMark mark) {
    return token_labels(tokenizer, std::span(&id, 1), mark).front();
}

} // namespace headscope::text
