#pragma once

#include "core/analysis/effects/patching.h"
#include "core/checkpoint/model/text_model.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

struct PromptMean;
struct RunSpec;

/// The user's choices on the patching screen.
struct PatchingQuestion {
    std::string corrupted = {}; ///< the corrupted prompt; empty: none yet
    analysis::PatchKind kind = analysis::PatchKind::residual;
    bool paths = false; ///< path patching from the open head to every later one, instead of a kind
    bool operator==(const PatchingQuestion&) const = default;
};

/// Two runs of a checkpoint whose activations are compared: the document's text is the clean prompt.
struct PatchingPair {
    checkpoint::ModelRunPtr clean, corrupted;
    /// The recorded activations of both runs, shared by every map of the pair. Only for the worker that made
    /// the pair.
    std::shared_ptr<analysis::Patching> patching;
    analysis::Patching::Question question;
    std::string answer, against;                             ///< labels
    std::vector<std::string> clean_tokens, corrupted_tokens; ///< labels
    std::vector<bool> differs;                               ///< by position: true if the tokens differ
    double clean_difference = 0, corrupted_difference = 0;
    /// Returns true if the logit differences of the prompts are too similar for a recovered fraction to be
    /// meaningful.
    bool too_similar() const {
        return std::abs(clean_difference - corrupted_difference) < analysis::least_difference;
    }
    /// The likeliest tokens after either prompt.
    struct Next {
        std::string token;
        double probability = 0;
    };
    std::vector<Next> clean_next, corrupted_next;
};

/// The fraction of the logit difference that each patch recovers.
struct PatchingMap {
    PatchingQuestion asked;
    analysis::HeadPlace from; ///< for path patching
    /// Rows from early to late layers; empty: not computed yet.
    std::vector<std::vector<std::optional<float>>> cells = {};
    /// True where both runs have the same numbers, so that no run is needed.
    std::vector<std::vector<bool>> same = {};
    std::int64_t done = 0, count = 0; ///< number of runs
    /// Null for one pair. Else all numbers are means over a list of pairs, also those of PatchingPair, which
    /// then has no runs and no texts; cells of the statistics: those of the map row by row, then the logit
    /// differences of the clean and of the corrupted prompts.
    std::shared_ptr<const PromptMean> mean = {};
    std::int64_t similar_pairs = 0; ///< of a mean: pairs for which PatchingPair::too_similar() is true
};

/// The content of the patching screen, as far as it is known.
struct PatchingView {
    PatchingQuestion asked;
    std::shared_ptr<const PatchingPair> pair = {}; ///< null: not known, or no second prompt
    std::shared_ptr<const PatchingMap> map = {};   ///< null: not known
    std::string error = {};                        ///< reason why there is none, one sentence
    bool mean = false;    ///< of the mean over a list of prompts, which may not be known yet
    bool stopped = false; ///< the user stopped the map before it was complete
};

/// Returns the pair of the clean run and another prompt, which may have a second text. token, against: the
/// two answers; none: the likeliest token after either prompt. For a worker. Throws what prompt_inputs,
/// ModelRun::compute and Patching throw.
PatchingPair patching_pair(const checkpoint::TextModelPtr& model, const checkpoint::ModelRunPtr& clean,
                           const checkpoint::TextPair& corrupted, std::optional<std::int64_t> token,
                           std::optional<std::int64_t> against, Progress& progress);
/// Throws Error(input) if there is no second prompt or its length differs.
void check_prompts(const RunSpec& part, const std::string& corrupted);

/// Returns the head to start paths from, given a map by heads: `open`, if it is not in the last layer and its
/// cell has an absolute value of at least 0.01; else the head before the last layer with the largest absolute
/// value; `open` if all of those are 0.
analysis::HeadPlace path_sender(const PatchingMap& heads, analysis::HeadPlace open);

/// Returns the edits of the run of one cell. For the worker of the pair. Throws what Patching::edits and
/// path_edits throw.
checkpoint::ModelEdits patch_edits(const PatchingPair& pair, const PatchingMap& map, std::int64_t row,
                                   std::int64_t column, Progress& progress);
/// Returns a sentence that describes the patch of a cell: "The residual stream that enters layer 2 at
/// position 5 (“·Mary”) comes from the clean prompt."
std::string patch_description(const PatchingPair& pair, const PatchingMap& map, std::int64_t row,
                              std::int64_t column);
/// Returns true if the columns of a map are heads, patched at all positions; else they are positions.
bool by_head(const PatchingMap& map);
/// Returns true if the cell's run can be opened: something is patched there, and a layer reads it.
bool can_open(const PatchingMap& map, std::int64_t row, std::int64_t column);

/// Returns the approximate memory of the recorded runs of such a pair.
std::size_t pair_bytes(const checkpoint::ModelRun& clean);
/// `put` receives the partial result after every run, from the last layer to the first. so_far: the result of
/// the same map, which was stopped; may be null. Its cells are not computed again. For the worker of the
/// pair.
PatchingMap patching_map(const PatchingPair& pair, const PatchingQuestion& asked, analysis::HeadPlace from,
                         const PatchingMap* so_far, const std::function<void(const PatchingMap&)>& put,
                         Progress& progress);

} // namespace headscope::app
