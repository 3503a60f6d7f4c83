#include "core/text/readable_tokens.h"

#include "core/text/plain_text.h"
#include "core/text/tokenizer/byte_level.h"

#include <algorithm>
#include <string_view>

namespace headscope::text {

namespace {

constexpr std::string_view byte_level_space = "Ġ", byte_level_line = "Ċ", piece_space = "▁";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Returns true for tokens like "<|endoftext|>" or "[CLS]", which are shown unchanged.
bool bracketed(const std::string& token) {
    return token.size() > 2 &&
           ((token.front() == '<' && token.back() == '>') || (token.front() == '[' && token.back() == ']'));
}

bool byte_level(const std::vector<std::string>& tokens) {
    const auto holds = [](std::string_view letter) {
        return [letter](const std::string& token) { return token.find(letter) != std::string::npos; };
    };
    return (std::ranges::any_of(tokens, holds(byte_level_space)) ||
            std::ranges::any_of(tokens, holds(byte_level_line))) &&
           std::ranges::all_of(tokens, [](const std::string& token) {
               return bracketed(token) || bytes_of_byte_level_text(token).has_value();
           });
}

std::string shown(std::string token) {
    replace_all(token, piece_space, " ");
    replace_all(token, "\r\n", "⏎");
    replace_all(token, "\n", "⏎");
    replace_all(token, "\t", "⇥");
    if (token.find_first_not_of(' ') == std::string::npos) {
        replace_all(token, " ", "␣");
        return token.empty() ? "∅" : token;
    }
    if (token.front() == ' ')
        token.erase(0, 1);
    return plain_text(token);
}

} // namespace

std::vector<std::string> readable_tokens(std::vector<std::string> tokens) {
    const bool bytes = byte_level(tokens);
    for (std::string& token : tokens) {
        if (bytes && !bracketed(token))
            token = *bytes_of_byte_level_text(token);
        token = shown(std::move(token));
    }
    return tokens;
}

} // namespace headscope::text
