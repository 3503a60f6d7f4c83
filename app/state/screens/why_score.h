#pragma once

#include "core/analysis/effects/score_terms.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// One attention score of a checkpoint, split into terms and ready to be drawn.
struct WhyScore {
    /// A residual stream component, or the heads of a layer together.
    struct Group {
        std::string name, brief;            ///< "L0 H3" and "H3"; "L0 heads"
        std::int64_t layer = -1, head = -1; ///< -1: the component has none
    };
    /// The contribution of one group at the query together with one at the key.
    struct Term {
        std::size_t query = 0, key = 0; ///< into `groups`
        double value = 0;
    };
    /// A source token of a head at the key.
    struct Read {
        std::int64_t token = 0;
        double weight = 0;
    };
    analysis::ScoreQuestion question;
    std::int64_t layer = 0;
    bool joined = false;   ///< the heads of a layer are one group
    bool may_join = false; ///< there are layers whose heads can be joined
    analysis::ScoreTerms score;
    std::vector<Group> groups;
    std::vector<double> table;         ///< (groups, groups); rows: query side
    std::vector<double> rows, columns; ///< sums
    std::vector<Term> largest;         ///< all terms, by absolute value, largest first
    double max_abs = 0;                ///< the largest absolute value
    std::vector<Read>
        read; ///< tokens that the key-side head of the largest term attends to, largest first; may be empty

    double at(std::size_t query, std::size_t key) const { return table[query * groups.size() + key]; }
};

/// join: none joins if there are more components than can be distinguished. For a worker. Throws what
/// score_terms throws.
WhyScore why_score(const checkpoint::ModelRun& run, const analysis::ScoreQuestion& question,
                   std::optional<bool> join, const Progress& cancel);

} // namespace headscope::app
