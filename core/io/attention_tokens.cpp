#include "core/io/attention_tokens.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/text/plain_text.h"
#include "core/text/tokenizer/byte_level.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace headscope {

namespace {

using nlohmann::json;

constexpr std::string_view byte_level_space = "Ġ", byte_level_line = "Ċ", piece_space = "▁";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Special tokens ("<|endoftext|>", "[CLS]") spell themselves.
bool is_special(const std::string& token) {
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
               return is_special(token) || bytes_of_letters(token).has_value();
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

std::vector<std::string> list_of(const json& value, const std::string& from) {
    std::vector<std::string> out;
    if (!value.is_array())
        fail_input(from + " should be a JSON list of strings, one for each token");
    for (const json& token : value) {
        if (!token.is_string())
            fail_input(from + " should hold strings alone, and holds " + token.dump().substr(0, 40));
        out.push_back(token.get<std::string>());
    }
    return readable_tokens(std::move(out));
}

/// One list, or a list of lists.
std::vector<std::vector<std::string>> lists_of(const json& value, const std::string& from) {
    if (!value.is_array())
        fail_input(from + " should be a JSON list of strings, one for each token");
    if (value.empty()) // a trace without tokens says so by an empty list
        return {};
    if (!value.front().is_array())
        return {list_of(value, from)};
    std::vector<std::vector<std::string>> out;
    for (const json& one : value)
        out.push_back(list_of(one, from));
    return out;
}

} // namespace

std::vector<std::string> readable_tokens(std::vector<std::string> tokens) {
    const bool bytes = byte_level(tokens);
    for (std::string& token : tokens) {
        if (bytes && !is_special(token))
            token = *bytes_of_letters(token);
        token = shown(std::move(token));
    }
    return tokens;
}

AttentionTokens parse_attention_tokens(const std::string& text, const std::string& from) {
    const json value = parse_json(text, from);
    AttentionTokens tokens;
    tokens.from = from;
    if (!value.is_object()) {
        tokens.queries = lists_of(value, from);
        tokens.sequences = tokens.queries.size() > 1;
        return tokens;
    }
    const auto queries = value.find("tokens"), keys = value.find("key_tokens");
    if (queries == value.end())
        fail_input(from + " should have a list \"tokens\"");
    tokens.queries = lists_of(*queries, from);
    tokens.sequences = tokens.queries.size() > 1;
    if (keys != value.end())
        tokens.keys = lists_of(*keys, from);
    return tokens;
}

} // namespace headscope
