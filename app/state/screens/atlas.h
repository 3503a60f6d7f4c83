#pragma once

#include "app/state/atlas_view.h"
#include "app/state/screens/surveyed.h"
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

/// Where the heads stand that read alike, ready to be drawn.
struct AlikeMap {
    std::vector<std::array<double, 2>> places; ///< (L * H)
    std::int64_t rows = 0, of = 0;             ///< query rows that were compared
};

/// Where one head acts most by what its label speaks of: see acting_cells.
struct ActingWeights {
    std::int64_t layer = 0, head = 0;
    std::vector<analysis::PlacedWeight> cells; ///< of different rows, the largest first
    std::vector<std::string> queries, keys;    ///< what is read by whom: Tq and Tk texts
};

/// How far a score has come that takes more than the text's own run.
struct ScoreWork {
    std::string why_not;           ///< one sentence; empty: it is there, or comes
    std::optional<float> fraction; ///< of the work under way; none: it is there, or nobody asked for it
};

/// All scores of all heads, ready to be drawn.
struct Atlas {
    std::int64_t L = 0, H = 0;                               ///< of the board, means left out
    std::vector<std::int64_t> numbers;                       ///< L: what each layer or sequence is called
    std::shared_ptr<const std::vector<std::string>> names;   ///< (L * H): "L4 H2"
    std::vector<std::optional<analysis::HeadMetrics>> heads; ///< (L * H); none: not read yet
    std::bitset<analysis::head_score_count> known;           ///< by some head
    std::int64_t probe_texts = 0, probe_length = 0;          ///< of probe scores
    std::map<analysis::ScoreSource, ScoreWork> works;  ///< of scores that more than the text's own run gives
    std::shared_ptr<const analysis::Retrieval> needle; ///< so far; null: not measured
    std::shared_ptr<const AlikeMap> alike;
    ScoreWork alike_work;
    std::shared_ptr<const SurveyedHeads> survey;  ///< whose means `heads` has; null: of this text
    std::shared_ptr<const SurveyedHead> surveyed; ///< of the open head; null: not read yet
    std::shared_ptr<const ActingWeights> acts;    ///< of the open head on this text; null: not known yet
    std::string survey_error;                     ///< one sentence; empty when all is well
    bool has_survey = false;                      ///< one is open, looked at or not
    std::uint64_t version = 0;                    ///< other numbers have another

    bool has(std::int64_t l, std::int64_t h) const { return l < L && h < H; } ///< no mean of the board
    const std::optional<analysis::HeadMetrics>& at(std::int64_t l, std::int64_t h) const {
        return heads[static_cast<std::size_t>(l * H + h)];
    }
    /// Of a score that more than the text's own run gives; null for the others.
    const ScoreWork* work(analysis::HeadScore score) const;
    /// Known, or on the way once it is asked for.
    bool offers(analysis::HeadScore score) const;
};

/// What the atlas shows of a view: what is asked for where the heads have it, else the usual.
struct AtlasLook {
    analysis::HeadScore colour, x, y;
    std::vector<std::optional<analysis::HeadScore>> labels = {}; ///< (L * H), by the view's thresholds
    std::vector<bool> chosen = {};                               ///< (L * H)
    bool choosing = false; ///< not all heads are chosen for want of a choice
    std::int64_t chosen_count = 0;
};

/// `pattern`: the letter of a label, all of whose heads are chosen; empty: no matter.
AtlasLook look_of(const Atlas& atlas, const AtlasView& view, const std::string& pattern);

} // namespace headscope::app
