#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_edits.h"

#include <cstdint>
#include <vector>

namespace headscope::analysis {

/// A token of the vocabulary with the number that a head's circuit gives it.
struct CircuitToken {
    std::int64_t id = 0;
    double value = 0;
};

/// What a head does with one token as its weights alone say (Elhage et al. 2021), without the norms, the
/// biases and the rotation between: e is the token's row of the word table, scaled as the model scales it.
/// Embeddings narrower than the layers go through their linear map, and what a head writes through the
/// dense layer before the output table.
struct VocabularyCircuit {
    std::vector<CircuitToken> promoted;   ///< largest of e W_V W_O W_U, largest first
    std::vector<CircuitToken> suppressed; ///< smallest, smallest first
    std::vector<CircuitToken> looked_for; ///< keys with the largest e W_Q W_Kᵀ W_Eᵀ / √dk, largest first
};

/// What stands for a token where its circuit begins.
enum class TokenVector : std::uint8_t {
    embedding, ///< e
    first_mlp  ///< MLP_0(LN(e)), what the first layer's MLP makes of it: closer to what later layers read
};

/// Of attention `n` (see stacks.h) with its edits; cpu may not be in use. top: how many of each. Throws
/// Error(input) for a head or a token that is not there, and for a model without a head; Error(cancelled).
VocabularyCircuit vocabulary_circuit(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                                     std::int64_t n, std::int64_t head, std::int64_t token,
                                     TokenVector vector, std::size_t top, const Progress& cancel);

} // namespace headscope::analysis
