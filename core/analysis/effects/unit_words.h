#pragma once

#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <vector>

namespace headscope::analysis {

/// What one unit of an MLP does to the logits by itself.
struct UnitWords {
    struct Word {
        std::int64_t id = 0;
        float logit = 0; ///< for 1 of the unit's activation
    };
    std::int64_t attention = 0, unit = 0; ///< the MLP behind this attention (see stacks.h)
    std::vector<Word> raised;             ///< whose logit it raises most, the largest first
    std::vector<Word> lowered;            ///< whose logit it lowers most, the lowest first
};

/// Whether a unit's row of W_out reaches the logits as it is, but for norms: the model has a head without a
/// layer of its own, a final norm, one MLP in each layer and no norm after the sums. An encoder's rows go
/// another way.
bool has_unit_words(const checkpoint::Model& model, checkpoint::Stack stack);

/// The direct path of a unit (nostalgebraist 2020, "interpreting GPT: the logit lens", of one direction): its
/// row of W_out, the weight of a norm behind the MLP, less its mean where the final norm subtracts one, the
/// final norm's weight, W_U; all with the run's edits. What a norm divides by depends on the text and is left
/// out. `most` words of either kind. Needs has_unit_words, an MLP behind attention n, 0 <= unit < d_ff. As
/// long as a product with W_U: not for the window's thread. Throws Error(cancelled).
UnitWords unit_words(const checkpoint::ModelRun& run, std::int64_t n, std::int64_t unit, std::size_t most,
                     const Progress& cancel);

} // namespace headscope::analysis
