#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace headscope::analysis {

/// What stands in place of a head's output.
enum class Ablation : std::uint8_t {
    zero, ///< nothing, as with gain 0
    mean  ///< at every position the head's mean output over the positions of this text
};

/// What a sweep measures.
struct SweepOptions {
    std::int64_t position = 0;                        ///< whose prediction is compared, in [0, T)
    Ablation ablation = Ablation::zero;               ///< what a head becomes
    std::vector<checkpoint::AttentionPlace> places{}; ///< whose heads are ablated; empty: all attentions
    std::vector<std::int64_t> tokens{};               ///< ids whose logits are kept, in [0, vocab)
    /// Whether a head is left out, as one that was measured before; empty: none is.
    std::function<bool(checkpoint::AttentionPlace, std::int64_t head)> skip{};
};

/// What the model predicts without one head.
struct HeadEffect {
    checkpoint::AttentionPlace place; ///< the attention of the head
    std::int64_t head = 0;            ///< in [0, H)
    double divergence = 0;     ///< KL(before || after) of the next token, over the vocabulary, in nats; >= 0
    std::vector<float> logits; ///< after, of SweepOptions::tokens, behind a cap where the model has one
};

/// Ablates every head alone, one after the other, and compares the prediction at one position with that of
/// the run, edits and gains included. It stands in for the gradients of Michel et al. 2019, "Are Sixteen
/// Heads Really Better than One?". All before the head's attention is computed once. The last attention comes
/// first, since its heads cost least. Calls `done` on the calling thread after each head. Computes on the
/// CPU, in float32, with threads of its own; any thread may call it. Throws Error(input) for a model without
/// a head that gives logits, for a position, a place or a token that the run has not, and for numbers beyond
/// float32's range; Error(cancelled) between two attentions
/// of a run.
void ablation_sweep(const checkpoint::ModelRun& run, const SweepOptions& options,
                    const std::function<void(const HeadEffect&)>& done, Progress& progress);

} // namespace headscope::analysis
