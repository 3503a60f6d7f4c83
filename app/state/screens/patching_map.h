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

struct ModelPart;

/// What is patched, as chosen.
struct PatchingQuestion {
    std::string corrupted = {}; ///< the second prompt; empty: none yet
    analysis::PatchKind kind = analysis::PatchKind::residual;
    bool paths = false; ///< from the open head to every later one, in place of a kind
    bool operator==(const PatchingQuestion&) const = default;
};

/// Two runs of a checkpoint whose activations are compared: the document's text is the clean one.
struct PatchingPair {
    checkpoint::ModelRunPtr clean, corrupted;
    /// Both runs as they were recorded, for every map of the pair. For the worker that made the pair.
    std::shared_ptr<analysis::Patching> patching;
    analysis::Patching::Question question;
    std::string answer, against;                             ///< labels
    std::vector<std::string> clean_tokens, corrupted_tokens; ///< labels
    std::vector<bool> differs;                               ///< by position: whether the tokens differ
    double clean_difference = 0, corrupted_difference = 0;
    /// Whether the answers of the prompts differ too little for a share of that to mean anything.
    bool too_alike() const {
        return std::abs(clean_difference - corrupted_difference) < analysis::least_difference;
    }
    /// The two likeliest tokens after either prompt.
    struct Next {
        std::string token;
        double probability = 0;
    };
    std::vector<Next> clean_next, corrupted_next;
};

/// The shares of the answer that patches bring back.
struct PatchingMap {
    PatchingQuestion asked;
    analysis::HeadPlace from; ///< of paths
    /// Rows from early to late; empty: not reached yet.
    std::vector<std::vector<std::optional<float>>> cells = {};
    /// Where both runs have the same numbers, so that nothing is run.
    std::vector<std::vector<bool>> same = {};
    std::int64_t done = 0, count = 0; ///< runs
};

/// What the canvas shows of it, as far as it is known.
struct PatchingView {
    PatchingQuestion asked;
    std::shared_ptr<const PatchingPair> pair = {}; ///< null: not known, or no second prompt
    std::shared_ptr<const PatchingMap> map = {};   ///< null: not known
    std::string error = {};                        ///< why there is none, one sentence
    bool stopped = false;                          ///< the user stopped the map before its end
};

/// The pair of the clean run and another prompt, which may have a second text. token, against: those asked
/// for; none: what either prompt leads to. For a worker. Throws what prompt_inputs, ModelRun::compute and
/// Patching throw.
PatchingPair patching_pair(const checkpoint::TextModelPtr& model, const checkpoint::ModelRunPtr& clean,
                           const checkpoint::TextPair& corrupted, std::optional<std::int64_t> token,
                           std::optional<std::int64_t> against, Progress& progress);
/// Throws Error(input) where there is no second prompt, or one of another length.
void check_prompts(const ModelPart& part, const std::string& corrupted);

/// The head of a map by heads whose patch brings back most, or takes away most, among those with a later
/// layer: where paths have the most to begin with. `open`, where its share is at least a hundredth.
analysis::HeadPlace sender_of(const PatchingMap& heads, analysis::HeadPlace open);

/// What the run of one cell of a map is made of. For the worker of the pair. Throws what Patching::edits and
/// path_edits throw.
checkpoint::ModelEdits patch_edits(const PatchingPair& pair, const PatchingMap& map, std::int64_t row,
                                   std::int64_t column, Progress& progress);
/// "The residual stream that enters layer 2 at position 5 (“·Mary”) comes from the clean prompt.": what a
/// cell of a map patches.
std::string patch_words(const PatchingPair& pair, const PatchingMap& map, std::int64_t row,
                        std::int64_t column);
/// Whether the cells of a map are heads, at all positions; else they are positions.
bool by_head(const PatchingMap& map);
/// Whether the cell's run can be opened: something is patched there, and a layer reads it.
bool can_open(const PatchingMap& map, std::int64_t row, std::int64_t column);

/// What the recorded runs of such a pair hold together, roughly.
std::size_t pair_bytes(const checkpoint::ModelRun& clean);
/// `put` gets what there is after every run, from the last layer to the first. so_far: of the same map, which
/// was stopped; may be null. Its cells are not run again. For the worker of the pair.
PatchingMap patching_map(const PatchingPair& pair, const PatchingQuestion& asked, analysis::HeadPlace from,
                         const PatchingMap* so_far, const std::function<void(const PatchingMap&)>& put,
                         Progress& progress);

} // namespace headscope::app
