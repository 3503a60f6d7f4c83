#include "core/text/tokenizer/sentencepiece/merges.h"

#include "core/text/tokenizer/text_index.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <tuple>

namespace headscope::text {

namespace {

struct RankedMerge {
    double score = 0;
    std::size_t left_size = 0, right_size = 0; ///< in code points
    TokenMerge merge;
};

} // namespace

std::vector<TokenMerge> merges_by_score(std::span<const ScoredPiece> pieces) {
    TextIndex ids;
    ids.reserve(pieces.size());
    for (const ScoredPiece& piece : pieces)
        if (ids.find(piece.text) < 0)
            ids.add(piece.text, piece.id);
    std::vector<RankedMerge> ranked;
    ranked.reserve(2 * pieces.size());
    for (const ScoredPiece& piece : pieces) {
        const auto begin = static_cast<std::ptrdiff_t>(ranked.size());
        const std::size_t size = count_code_points(piece.text);
        std::size_t letters = 0;
        for_each_code_point(piece.text, [&](char32_t, std::size_t at, std::size_t) {
            const std::size_t left_size = letters++;
            if (at == 0)
                return;
            const TokenId left = ids.find(piece.text.substr(0, at));
            const TokenId right = left < 0 ? left : ids.find(piece.text.substr(at));
            if (right >= 0)
                ranked.push_back({piece.score, left_size, size - left_size, {left, right, piece.id}});
        });
        std::ranges::sort(ranked.begin() + begin, ranked.end(), {},
                          [](const RankedMerge& one) { return std::pair(one.merge.left, one.merge.right); });
    }
    std::ranges::stable_sort(ranked, [](const RankedMerge& a, const RankedMerge& b) {
        return std::tuple(a.score, a.left_size, a.right_size) >
               std::tuple(b.score, b.left_size, b.right_size);
    });
    std::vector<TokenMerge> merges;
    merges.reserve(ranked.size());
    for (const RankedMerge& one : ranked)
        merges.push_back(one.merge);
    return merges;
}

} // namespace headscope::text
