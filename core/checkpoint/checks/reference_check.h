#pragma once

#include "core/checkpoint/run/forward.h"
#include "core/format/safetensors.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// How far this program's numbers of one tensor are from somebody else's, over the rows of real tokens.
struct ReferenceRow {
    std::string kind;                    ///< "attentions", "hidden", "cross attentions", "logits" ...
    std::optional<std::int64_t> layer{}; ///< of attentions; of hidden states 0 is the embedding output
    double difference = 0; ///< the largest; infinite where either has NaN or only one is infinite
    double allowed = 0;    ///< 1e-5, 5e-5 or 2e-4, and a millionth of the largest number of the reference
    bool agrees() const { return difference <= allowed; }
};

/// Parts that a comparison left out.
struct ReferenceGaps {
    std::vector<std::string>
        missing_here; ///< tensors of the reference that the model should have numbers for, and has not
    std::vector<std::string> not_compared; ///< tensors of the reference that are not read here
    std::vector<std::string>
        only_here; ///< kinds of numbers of the model that the reference lacks, some or all
};

/// Runs the model over the inputs in `reference` (input_ids, optional attention_mask and token_type_ids) and
/// compares with what else the file has: attentions.{l}, layers.{l}.weights (both (B, H, T, T)) or
/// expect.attentions (L, B, H, T, T); hidden_states.{l}, hidden.{l} (B, T, D) or expect.hidden_states (L + 1,
/// B, T, D); logits or expect.logits (B, T, vocab); of mixtures router_logits.{l}, layers.{l}.router
/// (B, T, experts) or expect.router_logits (those of the
/// layers with experts, B, T, experts); of a floating-point type. Of an
/// encoder-decoder the names are encoder_attentions.{l}, encoder.layers.{l}.weights,
/// expect.encoder_attentions and so on, likewise decoder_ and cross_, and the inputs those of both stacks.
/// What was left out goes into `gaps` if it is given. Throws Error(input) naming the tensor for a wrong
/// shape, when there is nothing to compare with, and what run_model throws.
std::vector<ReferenceRow> check_against(const Model& model, const format::Safetensors& reference,
                                        run::Backend* backend, Progress& progress,
                                        ReferenceGaps* gaps = nullptr);

} // namespace headscope::checkpoint
