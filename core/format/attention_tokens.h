#pragma once

#include "core/text/readable_tokens.h"

#include <string>
#include <vector>

namespace headscope::format {

/// The tokens that somebody put beside attention weights.
struct AttentionTokens {
    std::vector<std::vector<std::string>> queries;      ///< one list for all, one per sequence, or none
    std::vector<std::vector<std::string>> keys;         ///< likewise; none: the queries' own
    std::vector<std::vector<std::string>> query_pieces; ///< of `queries`, as they are spelled there
    std::vector<std::vector<std::string>> key_pieces;   ///< of `keys`
    std::string from;                                   ///< the file or the metadata entry that they were in
    bool sequences = false; ///< a list per sequence: the first axis of the weights counts sequences
};

/// Tokens written as JSON: a list of strings; a list of such lists, one per sequence; or an object with
/// "tokens" and, for keys of their own, "key_tokens". Queries and keys come out as readable_tokens has them.
/// Throws Error(input) that begins with `from` when it is nothing of that.
AttentionTokens parse_attention_tokens(const std::string& json, const std::string& from);

} // namespace headscope::format
