#pragma once

#include "core/text/readable_tokens.h"

#include <string>
#include <vector>

namespace headscope::format {

/// The tokens of attention weights.
struct AttentionTokens {
    std::vector<std::vector<std::string>> queries; ///< one list for all sequences, one per sequence, or none
    std::vector<std::vector<std::string>> keys;    ///< same; none: the keys have the queries' tokens
    std::vector<std::vector<std::string>> query_pieces; ///< `queries` in the vocabulary's spelling
    std::vector<std::vector<std::string>> key_pieces;   ///< `keys` in the vocabulary's spelling
    std::vector<std::vector<bool>> padding; ///< flags of padding queries: one list, one per sequence, or none
    std::string source;                     ///< the file or the metadata entry with the tokens
    bool is_per_sequence =
        false; ///< each sequence has a list, so the first axis of the weights counts sequences
};

/// Parses tokens in JSON: a list of strings; a list of such lists, one per sequence; or an object with
/// "tokens", optional "key_tokens" if the keys have other tokens, and an optional "attention_mask" with 0 for
/// each padding token. Queries and keys are passed through readable_tokens. Without a mask, [PAD] and <pad>
/// at the start or end of the queries are padding. Throws Error(input) that begins with `from` for any other
/// JSON.
AttentionTokens parse_attention_tokens(const std::string& json, const std::string& from);

} // namespace headscope::format
