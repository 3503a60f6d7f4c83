#pragma once

#include "core/text/readable_tokens.h"

#include <string>
#include <vector>

namespace headscope::format {

/// The tokens that come with attention weights.
struct AttentionTokens {
    std::vector<std::vector<std::string>> queries; ///< one list for all sequences, one per sequence, or none
    std::vector<std::vector<std::string>> keys;    ///< likewise; none: the keys have the queries' tokens
    std::vector<std::vector<std::string>> query_pieces; ///< `queries` in the vocabulary's spelling
    std::vector<std::vector<std::string>> key_pieces;   ///< `keys` in the vocabulary's spelling
    std::vector<std::vector<bool>>
        padding;      ///< which queries pad the text: one list, one per sequence, or none
    std::string from; ///< the file or the metadata entry with the tokens
    bool sequences =
        false; ///< whether each sequence has a list: the first axis of the weights counts sequences
};

/// Parses tokens in JSON: a list of strings; a list of such lists, one per sequence; or an object with
/// "tokens" and, if the keys have tokens of their own, "key_tokens"; "attention_mask", with 0 for each token
/// that pads the text, may stand beside them. Queries and keys are passed through readable_tokens. Without a
/// mask, [PAD] and <pad> at the start or end of the queries pad the text. Throws Error(input) that begins
/// with `from` for any other JSON.
AttentionTokens parse_attention_tokens(const std::string& json, const std::string& from);

} // namespace headscope::format
