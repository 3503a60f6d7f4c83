#pragma once

#include "core/analysis/heads/head_metrics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::analysis {

/// Which heads are wanted, as typed: terms joined by "and" or a comma, all of which must hold. A term is a
/// place ("L5H3", "L5", "H3"), a score with a limit ("induction > 0.4", "first<=0,2"), or a label
/// ("previous token"). A score goes by its id and, as a label does, by its name in English or in the person's
/// language; "previous", "induction", "duplicate" mean that of the probe where the head has it. Letter case
/// and blanks don't count.
class HeadFilter {
public:
    /// Throws Error(input) for a term of another form, naming it.
    static HeadFilter parse(const std::string& text);

    bool empty() const { return terms_.empty(); }
    /// layer: its number. label: as the head is called now. A score that the head does not have is never in
    /// a limit.
    bool holds(std::int64_t layer, std::int64_t head, const HeadMetrics& metrics,
               std::optional<HeadScore> label) const;

private:
    struct Term {
        std::optional<std::int64_t> layer{}, head{};
        std::vector<HeadScore> scores{}; ///< of these the first that a head has
        bool more = true, equal = false; ///< > or <; = with it
        float limit = 0;
        std::string label{};
    };
    static Term term_of(const std::string& text);

    std::vector<Term> terms_;
};

} // namespace headscope::analysis
