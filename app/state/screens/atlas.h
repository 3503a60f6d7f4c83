#pragma once

#include "app/state/atlas_view.h"
#include "app/state/head_grid.h"
#include "app/state/screens/surveyed.h"
#include "app/state/view_state.h"
#include "core/analysis/heads/head_facts.h"
#include "core/analysis/heads/head_metrics.h"
#include "core/analysis/heads/retrieval.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

struct PromptMean;

/// A map that places heads with similar attention close together, ready to be drawn.
struct SimilarityMap {
    std::vector<std::array<double, 2>> places; ///< (L * H)
    std::int64_t rows = 0, of = 0; ///< number of query rows that were compared, and of all query rows
};

/// The cells in which a head acts most, by the meaning of its label. See acting_cells.
struct ActingCells {
    std::int64_t layer = 0, head = 0;
    std::vector<analysis::PlacedWeight> cells; ///< in different rows, the largest first
    std::vector<std::string> queries, keys;    ///< texts of the queries (Tq) and the keys (Tk)
};

/// The progress of a score that needs more than the run of the text.
struct ScoreProgress {
    std::string unavailable_reason; ///< why the score is not available, one sentence; empty: it is or will be
    std::optional<float> fraction;  ///< progress of the work; none: complete, or not requested
};

/// All scores of all heads, ready to be drawn.
struct Atlas {
    std::int64_t L = 0, H = 0;                             ///< layers and heads of the grid, without means
    std::vector<std::int64_t> numbers;                     ///< L: the number shown for each layer or sequence
    std::shared_ptr<const std::vector<std::string>> names; ///< (L * H): "L4 H2"
    std::vector<std::optional<analysis::HeadMetrics>> heads; ///< (L * H); none: not read yet
    std::bitset<analysis::head_score_count> known;           ///< scores that at least one head has
    std::int64_t probe_texts = 0, probe_length = 0;          ///< size of the probe
    std::map<analysis::ScoreSource, ScoreProgress>
        works;                                         ///< for scores that need more than the run of the text
    std::shared_ptr<const analysis::Retrieval> needle; ///< as far as it is measured; null: not measured
    std::shared_ptr<const SimilarityMap> similarity;
    ScoreProgress similarity_progress;
    std::shared_ptr<const SurveyedHeads> survey;  ///< source of `heads`; null: this text
    std::shared_ptr<const SurveyedHead> surveyed; ///< the open head; null: not read yet
    std::shared_ptr<const ActingCells> acts;      ///< for the open head on this text; null: not known yet
    /// Null unless `heads` are means over a list of prompts; cells of the statistics: every score of
    /// head_scores() for each head.
    std::shared_ptr<const PromptMean> mean;
    std::string survey_error;  ///< one sentence; empty if there is no error
    bool has_survey = false;   ///< a survey is open, shown or not
    std::uint64_t version = 0; ///< changes with the numbers

    // While the atlas is compared with a baseline A.
    Compare side = Compare::now;  ///< the version of the numbers; in B − A `heads` holds differences
    std::string compare_obstacle; ///< why A and B − A cannot be shown, one sentence; empty: they can
    /// (L) for A and B − A; null: not read yet. In B − A a map holds |B − A|. Empty for B, whose maps are
    /// those of the grid.
    std::vector<std::shared_ptr<const HeadGridRow>> rows;
    float largest_change = 0; ///< of all maps in B − A
    std::vector<std::optional<analysis::HeadMetrics>>
        scores_of_b; ///< (L * H) in B − A: the scores that labels refer to; else empty

    bool has(std::int64_t l, std::int64_t h) const { return l < L && h < H; } ///< false for means
    const std::optional<analysis::HeadMetrics>& at(std::int64_t l, std::int64_t h) const {
        return heads[static_cast<std::size_t>(l * H + h)];
    }
    /// The scores that decide on the head's label.
    const std::optional<analysis::HeadMetrics>& labelled(std::int64_t l, std::int64_t h) const {
        return scores_of_b.empty() ? at(l, h) : scores_of_b[static_cast<std::size_t>(l * H + h)];
    }
    /// For a score that needs more than the run of the text; null for the others.
    const ScoreProgress* work(analysis::HeadScore score) const;
    /// Returns true if the score is known or will be computed on request.
    bool offers(analysis::HeadScore score) const;
};

/// The selections that the atlas draws for a view: the requested score if the heads have it, else a default.
struct ResolvedAtlasView {
    analysis::HeadScore colour, x, y;
    std::vector<std::optional<analysis::HeadScore>> labels = {}; ///< (L * H), by the view's thresholds
    std::vector<bool> chosen = {};                               ///< (L * H)
    bool is_filtered = false;                                    ///< a filter is active
    std::int64_t chosen_count = 0;
};

/// `pattern`: the letter of a label; selects only heads with that label. Empty: no restriction.
ResolvedAtlasView resolve_atlas_view(const Atlas& atlas, const AtlasView& view, const std::string& pattern);

} // namespace headscope::app
