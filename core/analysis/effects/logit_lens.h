#pragma once

#include "core/checkpoint/generation/predictions.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::analysis {

/// What a model would predict if it stopped after a layer (nostalgebraist 2020, "interpreting GPT: the logit
/// lens"): softmax of the stream after the final norm and the head.
struct LogitLens {
    std::vector<std::int64_t> positions;
    /// By what the stream has passed, 0 the embedding, l + 1 layer l, and by place in `positions`: the
    /// likeliest tokens, likeliest first.
    std::vector<std::vector<std::vector<checkpoint::TokenChance>>> layers;
};

/// positions: in [0, T). top: how many tokens, at least 1. Throws Error(input) for a model without a head and
/// for positions that are not there; Error(cancelled).
LogitLens logit_lens(const checkpoint::ModelRun& run, std::span<const std::int64_t> positions,
                     std::size_t top, Progress& progress);

} // namespace headscope::analysis
