#include "core/text/tokenizer/sentencepiece/merges.h"

#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace headscope::text {

namespace {

struct RankedMerge {
    double score = 0;
    std::size_t left_size = 0, right_size = 0; ///< in code points
    TokenMerge merge;
};

} // namespace

std::vector<TokenMerge> merges_by_score(std::span<const ScoredPiece> pieces) {
    std::unordered_map<std::string_view, TokenId> ids;
    ids.reserve(pieces.size());
    for (const ScoredPiece& piece : pieces)
        ids.insert_or_assign(piece.text, piece.id);
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
            const auto left = ids.find(piece.text.substr(0, at));
            if (left == ids.end())
                return;
            if (const auto right = ids.find(piece.text.substr(at)); right != ids.end())
                ranked.push_back(
                    {piece.score, left_size, size - left_size, {left->second, right->second, piece.id}});
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
