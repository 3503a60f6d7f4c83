#pragma once

#include "core/analysis/effects/score_terms.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// One score of a checkpoint taken apart, ready to be drawn.
struct WhyScore {
    /// A writer, or the heads of a layer together.
    struct Group {
        std::string name, brief;            ///< "L0 H3" and "H3"; "L0 heads"
        std::int64_t layer = -1, head = -1; ///< of the writer; -1: it has none
    };
    /// What a group at the query and one at the key add together.
    struct Term {
        std::size_t query = 0, key = 0; ///< into `groups`
        double value = 0;
    };
    /// A token that a head read at the key.
    struct Read {
        std::int64_t token = 0;
        double weight = 0;
    };
    analysis::ScoreQuestion question;
    std::int64_t layer = 0;
    bool joined = false;   ///< heads of a layer are one group
    bool may_join = false; ///< there are layers whose heads could be joined
    analysis::ScoreTerms score;
    std::vector<Group> groups;
    std::vector<double> table;         ///< (groups, groups): rows at the query
    std::vector<double> rows, columns; ///< sums
    std::vector<Term> largest;         ///< all terms, the largest first
    double limit = 0;                  ///< the largest, without its sign
    std::vector<Read>
        read; ///< by the head that the largest term names at the key, the largest first; may be empty

    double at(std::size_t query, std::size_t key) const { return table[query * groups.size() + key]; }
};

/// join: none joins where there are more writers than can be told apart. For a worker. Throws what
/// score_terms throws.
WhyScore why_score(const checkpoint::ModelRun& run, const analysis::ScoreQuestion& question,
                   std::optional<bool> join, const Progress& cancel);

} // namespace headscope::app
