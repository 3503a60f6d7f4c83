#pragma once

#include <string>
#include <vector>

namespace headscope {

/// The tokens that somebody put beside attention weights.
struct AttentionTokens {
    std::vector<std::vector<std::string>> queries; ///< one list for all, one per sequence, or none
    std::vector<std::vector<std::string>> keys;    ///< likewise; none: the queries' own
    std::string from;                              ///< the file or the metadata entry that they were in
    bool sequences = false; ///< a list per sequence: the first axis of the weights counts sequences
};

/// Tokens written as JSON: a list of strings; a list of such lists, one per sequence; or an object with
/// "tokens" and, for keys of their own, "key_tokens". Byte-level pieces come out as the characters they stand
/// for. Throws Error(input) that begins with `from` when it is nothing of that.
AttentionTokens parse_attention_tokens(const std::string& json, const std::string& from);

/// Tokens as vocabularies spell them, to be read by people: byte-level letters (GPT-2's "Ġcat") and
/// SentencePiece's "▁cat" become characters, a line end "⏎", blanks alone "␣"; a blank before a word is left
/// out. Byte-level letters are taken as such only when the whole list is made of them.
std::vector<std::string> readable_tokens(std::vector<std::string> tokens);

} // namespace headscope
