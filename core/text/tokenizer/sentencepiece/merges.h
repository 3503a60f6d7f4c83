#pragma once

#include "core/text/tokenizer/models/model.h"

#include <functional>
#include <span>

namespace headscope::text {

/// A piece of a byte-pair encoding whose file has scores instead of merges.
struct ScoredPiece {
    std::string_view text;
    double score = 0;
    TokenId id = 0;
};

/// The merges of pieces: every way to split a piece into two pieces is a merge, and the higher the score of
/// the whole piece, the earlier. Of equal scores the merge with the longer left piece (in code points), then
/// with the longer right piece comes first, then the order of `pieces`, as in Hugging Face's conversion. The
/// texts must outlive the call.
std::vector<TokenMerge> merges_by_score(std::span<const ScoredPiece> pieces);

} // namespace headscope::text
