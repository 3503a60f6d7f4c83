#include "app/draw/inspector/inspector_words.h"

#include "app/draw/kit/format.h"
#include "app/draw/matrix/rotation.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

constexpr int longest_token = 10;

std::string plain_query(const Problem& problem, std::int64_t i) {
    return shortened(problem.tokens.empty() ? "token " + std::to_string(i) : query_word(problem, i),
                     longest_token);
}

std::string plain_key(const Problem& problem, std::int64_t j) {
    const auto& words = problem.cross() ? problem.kv_tokens : problem.tokens;
    return shortened(words.empty() ? "token " + std::to_string(j) : key_word(problem, j), longest_token);
}

std::string feature(const Shown& shown, std::int64_t d) {
    const auto& names = shown.document->feature_names();
    const auto i = static_cast<std::size_t>(d);
    return i < names.size() && !names[i].empty() ? "“" + shortened(names[i], 20) + "”"
                                                 : "number " + std::to_string(d);
}

std::string gain_words(const Shown& shown, std::int64_t h) {
    const float gain = shown.problem().gain(h);
    return gain == 1.0F ? "" : ", times the gain " + number(gain, 2);
}

/// Where the query of row i stands among the keys.
std::int64_t aligned(const Dims& dims, std::int64_t i) {
    return i + dims.Tk - dims.Tq;
}

std::string distance_words(const Problem& problem, const Index& at) {
    const std::string q = plain_query(problem, at[2]), k = plain_key(problem, at[3]);
    const std::int64_t ahead = at[3] - aligned(problem.dims, at[2]);
    if (problem.cross()) // two sentences have no distance but that of their places
        return k + " is " +
               (ahead == 0 ? "at" : std::to_string(std::abs(ahead)) + (ahead < 0 ? " before" : " after")) +
               " the place of " + q + ", counted from the ends";
    if (ahead == 0)
        return k + " is the token itself";
    return k + " is " + std::to_string(std::abs(ahead)) + (ahead < 0 ? " before " : " after ") + q;
}

std::string rule_words(const Problem& problem, const MaskRule& rule, const Index& at, bool allowed) {
    const std::string key = plain_key(problem, at[3]);
    return std::visit(Overloaded{[&](const CausalMask&) { return "causal: " + distance_words(problem, at); },
                                 [&](const KeyPaddingMask&) {
                                     return "padding: " + key +
                                            (allowed ? " is a real token" : " is padding");
                                 },
                                 [&](const SlidingWindowCausalMask& r) {
                                     return "causal window of " + std::to_string(r.window) + ": " +
                                            distance_words(problem, at);
                                 },
                                 [&](const SlidingWindowSymmetricMask& r) {
                                     return "window of ±" + std::to_string(r.half_width) + ": " +
                                            distance_words(problem, at);
                                 },
                                 [&](const ExplicitMask&) {
                                     return "explicit mask: " + plain_query(problem, at[2]) + " reads " + key;
                                 },
                                 [&](const AdditiveMask&) {
                                     return std::string(allowed ? "additive mask: added to the score"
                                                                : "additive mask: −∞ here, which forbids");
                                 }},
                      rule);
}

} // namespace

std::string say_query(const Problem& problem, std::int64_t i) {
    return problem.tokens.empty() ? plain_query(problem, i) : "“" + plain_query(problem, i) + "”";
}

std::string say_key(const Problem& problem, std::int64_t j) {
    const bool words = !(problem.cross() ? problem.kv_tokens : problem.tokens).empty();
    return words ? "“" + plain_key(problem, j) + "”" : plain_key(problem, j);
}

std::string say_head(std::int64_t h) {
    return "head " + std::to_string(h);
}

std::string say_kv_head(const Dims& dims, std::int64_t g) {
    return (dims.Hkv == dims.H ? "head " : "key/value head ") + std::to_string(g);
}

std::string name_of(TensorId id) {
    return std::string(tensor_info(id).name);
}

std::string caption_of(const Shown& shown, const CellAddress& cell) {
    const Problem& problem = shown.problem();
    const Dims& dims = problem.dims;
    const Index& at = cell.at;
    const auto q = [&](std::size_t axis) { return plain_query(problem, at[axis]); };
    const auto k = [&](std::size_t axis) { return plain_key(problem, at[axis]); };
    const auto n = [](std::int64_t i) { return std::to_string(i); };
    switch (cell.tensor) {
    case TensorId::x:
        return feature(shown, at[2]) + " of " + q(1);
    case TensorId::x_kv:
        return "number " + n(at[2]) + " of " + k(1);
    case TensorId::q:
        return "query feature " + n(at[2]) + " of " + q(1);
    case TensorId::k:
        return "key feature " + n(at[2]) + " of " + k(1);
    case TensorId::v:
        return "value feature " + n(at[2]) + " of " + k(1);
    case TensorId::q_heads:
    case TensorId::k_heads:
        if (is_turned(problem, cell.tensor))
            return "number " + n(at[3]) + " of " + (cell.tensor == TensorId::q_heads ? q(2) : k(2)) +
                   ", turned by its position";
        if (cell.tensor == TensorId::q_heads)
            return "the same cell as q[" + q(2) + ", " + n(at[1] * dims.dk + at[3]) + "]";
        return "the same cell as k[" + k(2) + ", " + n(at[1] * dims.dk + at[3]) + "]";
    case TensorId::v_heads:
        return "the same cell as v[" + k(2) + ", " + n(at[1] * dims.dv + at[3]) + "]";
    case TensorId::scores:
        return "how well " + k(3) + " fits the query of " + q(2) + " in " + say_head(at[1]);
    case TensorId::scaled:
        return "the same score, scaled by √dk";
    case TensorId::masked:
        return std::isinf(shown.value(cell)) ? "forbidden: " + q(2) + " may not read " + k(3)
                                             : "allowed: " + q(2) + " may read " + k(3);
    case TensorId::weights:
        return "of all that " + q(2) + " reads in " + say_head(at[1]);
    case TensorId::weights_mean:
        return "of all that " + q(1) + " reads, averaged over " +
               (dims.H == 1 ? "1 head" : n(dims.H) + " heads");
    case TensorId::head_out:
        return "value feature " + n(at[3]) + " as " + q(2) + " reads it in " + say_head(at[1]);
    case TensorId::concat:
        return "number " + n(at[2] % dims.dv) + " of " + say_head(at[2] / dims.dv) + " for " + q(1) +
               gain_words(shown, at[2] / dims.dv);
    case TensorId::contributions:
        return "what " + say_head(at[1]) + " adds to output[" + q(2) + ", " + n(at[3]) + "]";
    case TensorId::output:
        return "number " + n(at[2]) + " of " + q(1) + ", after attention";
    case TensorId::W_Q:
    case TensorId::W_K:
    case TensorId::W_V:
        return "from column " + n(at[0]) + " of the tokens to column " + n(at[1]) + " of " +
               std::string(cell.tensor == TensorId::W_Q   ? "q"
                           : cell.tensor == TensorId::W_K ? "k"
                                                          : "v");
    case TensorId::W_O:
        return "from column " + n(at[0]) + " of concat to column " + n(at[1]) + " of the output";
    case TensorId::b_Q:
        return "added to column " + n(at[0]) + " of q";
    case TensorId::b_K:
        return "added to column " + n(at[0]) + " of k";
    case TensorId::b_V:
        return "added to column " + n(at[0]) + " of v";
    case TensorId::b_O:
        return "added to column " + n(at[0]) + " of the output";
    case TensorId::mask:
    case TensorId::gain:
    case TensorId::temperature:
    case TensorId::rotary_cos:
    case TensorId::rotary_sin:
        return "";
    }
    return "";
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
