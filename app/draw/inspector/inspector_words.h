#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <vector>

namespace headscope::app {

/// The token of query i or key j, shortened at 10 letters, or "token 2" where the problem has no words.
std::string plain_query(const Problem& problem, std::int64_t i);
std::string plain_key(const Problem& problem, std::int64_t j);
/// Tokens in running text: “sat”, shortened at 10 letters, or "token 2" where the problem has no words.
std::string say_query(const Problem& problem, std::int64_t i);
std::string say_key(const Problem& problem, std::int64_t j);

/// "W_Q"
std::string name_of(TensorId id);

/// "head 2"
std::string say_head(std::int64_t h);

/// The head that a column of a matrix belongs to, for colours: -1 where none or several do.
std::int64_t owner_of(const Shown& shown, const CellAddress& cell);

/// One rule of the mask on one pair of tokens.
struct RuleSays {
    std::string words;   ///< "causal: cat stands before sat"
    bool allowed = true; ///< meaningless for a rule that only adds
    double add = 0;      ///< what it adds to the score
    bool adds = false;
};
/// Every rule of the problem's mask on the pair of a score (b, h, i, j).
std::vector<RuleSays> rules_on(const Problem& problem, const Index& at);

/// Whether a row of weights has no key that it may read.
bool fully_masked(const Trace& trace, std::int64_t b, std::int64_t h, std::int64_t i);

} // namespace headscope::app
