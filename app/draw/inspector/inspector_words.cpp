#include "app/draw/inspector/inspector_words.h"

#include "app/draw/kit/format.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

constexpr int longest_token = 10;

/// Where the query of row i stands among the keys.
std::int64_t aligned(const Dims& dims, std::int64_t i) {
    return i + dims.Tk - dims.Tq;
}

std::string distance_words(const Problem& problem, const Index& at) {
    const std::string q = plain_query(problem, at[2]), k = plain_key(problem, at[3]);
    const std::int64_t ahead = at[3] - aligned(problem.dims, at[2]);
    const std::int64_t steps = std::abs(ahead);
    // Translators: of tokens and their distance: "cat is 2 before sat"
    if (problem.cross()) // two sentences have no distance but that of their places
        return ahead == 0 ? tr("inspector_words.place_counted_ends",
                               "{} is at the position of {}, counted from the end of each text", k, q)
               : ahead < 0
                   ? tr("inspector_words.before_place_counted",
                        "{} is {} before the position of {}, counted from the end of each text", k, steps, q)
                   : tr("inspector_words.after_place_counted_ends",
                        "{} is {} after the position of {}, counted from the end of each text", k, steps, q);
    return ahead == 0  ? tr("inspector_words.token_itself", "{} is the token itself", k)
           : ahead < 0 ? tr("inspector_words.before", "{} is {} before {}", k, steps, q)
                       : tr("inspector_words.after", "{} is {} after {}", k, steps, q);
}

std::string rule_words(const Problem& problem, const MaskRule& rule, const Index& at, bool allowed) {
    const std::string key = plain_key(problem, at[3]);
    return std::visit(
        Overloaded{[&](const CausalMask&) {
                       return tr("inspector_words.causal", "causal: {}", distance_words(problem, at));
                   },
                   [&](const KeyPaddingMask&) {
                       return allowed ? tr("inspector_words.padding_real_token",
                                           "padding: {} is a real token", key)
                                      : tr("inspector_words.padding_padding", "padding: {} is padding", key);
                   },
                   [&](const SlidingWindowCausalMask& r) {
                       return tr("inspector_words.causal_window", "causal window of {}: {}", r.window,
                                 distance_words(problem, at));
                   },
                   [&](const SlidingWindowSymmetricMask& r) {
                       return tr("inspector_words.window", "window of ±{}: {}", r.half_width,
                                 distance_words(problem, at));
                   },
                   [&](const ChunkedCausalMask& r) {
                       const bool later = at[3] > aligned(problem.dims, at[2]);
                       return allowed || later
                                  ? tr("inspector_words.causal_chunks", "causal in chunks of {}: {}", r.chunk,
                                       distance_words(problem, at))
                                  : tr("inspector_words.earlier_chunk",
                                       "causal in chunks of {}: {} is in an earlier chunk", r.chunk, key);
                   },
                   [&](const ExplicitMask&) {
                       return tr("inspector_words.explicit_mask_reads", "explicit mask: {} reads {}",
                                 plain_query(problem, at[2]), key);
                   },
                   [&](const AdditiveMask&) {
                       return allowed ? tr("inspector_words.additive_mask_added",
                                           "additive mask: added to the score")
                                      : tr("inspector_words.additive_mask_here",
                                           "additive mask: −∞ here, which forbids the key");
                   }},
        rule);
}

} // namespace

std::string plain_query(const Problem& problem, std::int64_t i) {
    return shortened(problem.tokens.empty() ? tr("common.token_2", "token {}", i) : query_word(problem, i),
                     longest_token);
}

std::string plain_key(const Problem& problem, std::int64_t j) {
    const auto& words = problem.cross() ? problem.kv_tokens : problem.tokens;
    return shortened(words.empty() ? tr("common.token_2", "token {}", j) : key_word(problem, j),
                     longest_token);
}

std::string say_query(const Problem& problem, std::int64_t i) {
    return problem.tokens.empty() ? plain_query(problem, i)
                                  : tr("common.text", "“{}”", plain_query(problem, i));
}

std::string say_key(const Problem& problem, std::int64_t j) {
    const bool words = !(problem.cross() ? problem.kv_tokens : problem.tokens).empty();
    return words ? tr("common.text", "“{}”", plain_key(problem, j)) : plain_key(problem, j);
}

std::string say_head(std::int64_t h) {
    return tr("common.head_3", "head {}", h);
}

std::string name_of(TensorId id) {
    return std::string(tensor_info(id).name);
}

std::int64_t owner_of(const Shown& shown, const CellAddress& cell) {
    const Dims& dims = shown.dims();
    const HeadAxis heads = head_axis(tensor_info(cell.tensor), dims);
    if (heads.axis < 0 || (heads.kv && dims.Hkv != dims.H))
        return -1;
    return cell.at[static_cast<std::size_t>(heads.axis)] / heads.width;
}

std::vector<RuleSays> rules_on(const Problem& problem, const Index& at) {
    std::vector<RuleSays> out;
    for (const MaskRule& rule : problem.mask) {
        const MaskRows rows({rule}, problem.dims);
        RuleSays says;
        says.allowed = rows.allows(at[0], at[1], at[2], at[3]);
        if (std::holds_alternative<AdditiveMask>(rule) && says.allowed) {
            const float* add = rows.row(at[0], at[1], at[2]).add;
            says.adds = true;
            says.add = add == nullptr ? 0.0 : static_cast<double>(add[at[3]]);
        }
        says.words = rule_words(problem, rule, at, says.allowed);
        out.push_back(std::move(says));
    }
    return out;
}

bool fully_masked(const Trace& trace, std::int64_t b, std::int64_t h, std::int64_t i) {
    return std::ranges::binary_search(trace.fully_masked, std::array{b, h, i}, {}, [](const MaskedRow& row) {
        return std::array{row.b, row.h, row.i};
    });
}

} // namespace headscope::app
