#include "core/format/attention_tokens.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <nlohmann/json.hpp>

namespace headscope::format {

namespace {

using nlohmann::json;

std::vector<std::string> list_of(const json& value, const std::string& from) {
    std::vector<std::string> out;
    if (!value.is_array())
        fail_input(tr("attention_tokens.should_json_list",
                      "{} should be a JSON list of strings, one for each token", from));
    for (const json& token : value) {
        if (!token.is_string())
            fail_input(tr("attention_tokens.should_hold_strings", "{} should hold only strings, and holds {}",
                          from, shortened_json(token, 40)));
        out.push_back(token.get<std::string>());
    }
    return out;
}

/// Reads one list, or a list of lists.
std::vector<std::vector<std::string>> lists_of(const json& value, const std::string& from) {
    if (!value.is_array())
        fail_input(tr("attention_tokens.should_json_list",
                      "{} should be a JSON list of strings, one for each token", from));
    if (value.empty()) // a trace without tokens has an empty list
        return {};
    if (!value.front().is_array())
        return {list_of(value, from)};
    std::vector<std::vector<std::string>> out;
    for (const json& one : value)
        out.push_back(list_of(one, from));
    return out;
}

std::vector<std::vector<std::string>> readable(std::vector<std::vector<std::string>> lists) {
    for (std::vector<std::string>& list : lists)
        list = text::readable_tokens(std::move(list));
    return lists;
}

std::vector<bool> mask_of(const json& value, const std::string& from) {
    std::vector<bool> padding;
    for (const json& one : value) {
        if (!one.is_boolean() && one != 0 && one != 1)
            fail_input(tr("attention_tokens.should_1_0_attention",
                          "{} should have 1 or 0 in its \"attention_mask\" for each token, and has {}", from,
                          one.dump().substr(0, 40)));
        padding.push_back(one == 0 || one == false);
    }
    return padding;
}

/// Reads one list, or one for each sequence.
std::vector<std::vector<bool>> masks_of(const json& value, const std::string& from) {
    if (!value.is_array())
        fail_input(tr("attention_tokens.should_list_1_0",
                      "{} should have a list of 1 and 0 as \"attention_mask\"", from));
    if (value.empty() || !value.front().is_array())
        return {mask_of(value, from)};
    std::vector<std::vector<bool>> masks;
    for (const json& one : value)
        masks.push_back(mask_of(one, from));
    return masks;
}

/// Marks [PAD] or <pad> at the start or at the end.
std::vector<bool> padding_of(const std::vector<std::string>& pieces) {
    const auto pads = [](const std::string& token) { return token == "[PAD]" || token == "<pad>"; };
    std::vector<bool> padding(pieces.size(), false);
    for (std::size_t i = 0; i < pieces.size() && pads(pieces[i]); ++i)
        padding[i] = true;
    for (std::size_t i = pieces.size(); i > 0 && pads(pieces[i - 1]); --i)
        padding[i - 1] = true;
    return padding;
}

void set_queries(AttentionTokens& tokens, std::vector<std::vector<std::string>> pieces) {
    tokens.is_per_sequence = pieces.size() > 1;
    tokens.queries = readable(pieces);
    for (const std::vector<std::string>& list : pieces)
        tokens.padding.push_back(padding_of(list));
    tokens.query_pieces = std::move(pieces);
}

} // namespace

AttentionTokens parse_attention_tokens(const std::string& text, const std::string& from) {
    const json value = parse_json_with_bytes(text, from);
    AttentionTokens tokens;
    tokens.source = from;
    if (!value.is_object()) {
        set_queries(tokens, lists_of(value, from));
        return tokens;
    }
    const auto queries = value.find("tokens"), keys = value.find("key_tokens");
    if (queries == value.end())
        fail_input(tr("attention_tokens.should_list_tokens", "{} should have a list \"tokens\"", from));
    set_queries(tokens, lists_of(*queries, from));
    if (keys != value.end()) {
        tokens.key_pieces = lists_of(*keys, from);
        tokens.keys = readable(tokens.key_pieces);
    }
    if (const auto mask = value.find("attention_mask"); mask != value.end())
        tokens.padding = masks_of(*mask, from);
    return tokens;
}

} // namespace headscope::format
