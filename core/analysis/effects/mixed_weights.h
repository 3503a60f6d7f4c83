#pragma once

#include "core/attention/problem.h"
#include "core/engine/engine.h"

namespace headscope::analysis {

/// How much of its own x, and of another, the queries and the keys of an attention are made of.
struct Mixture {
    float queries_own = 1, queries_other = 0, keys_own = 1, keys_other = 0;
};

/// (1, H, T, T): the weights of a self-attention whose queries and keys are projections of mixtures of x and
/// `other`, (T, D) numbers row by row. The biases are added once. Throws what Engine::run throws.
TensorPtr mixed_weights(Problem problem, const float* other, const Mixture& mixture, engine::Engine& engine,
                        Progress& progress);

} // namespace headscope::analysis
