#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/stacks.h"
#include "core/trace/tensor_id.h"

#include <fmt/core.h>
#include <numbers>
#include <string>

namespace headscope::test {

/// The formula of a stage that only models with several copies of the residual stream have, or have as
/// another sum, for four copies of which the first is active; empty for other stages.
inline std::string formula_of_copies(const checkpoint::Architecture& a, checkpoint::AttentionPlace place,
                                     TensorId id) {
    using enum TensorId;
    switch (id) {
    case predicted:
        return "predicted = resid_in + altup.predict_coefficients[:, 0] × resid_in + "
               "altup.predict_coefficients[:, 1] × resid_in.1 + altup.predict_coefficients[:, 2] × "
               "resid_in.2 + "
               "altup.predict_coefficients[:, 3] × resid_in.3";
    case laurel_out:
        return "laurel_out = norm1 + laurel.normed";
    case resid_mid:
        return fmt::format("resid_mid = resid_sum · {:.4g}", 1 / std::numbers::sqrt2);
    case mlp_sparse:
        return fmt::format("mlp_sparse = max(0, mlp_gate − (mean of mlp_gate + {} · standard deviation))",
                           *a.gate_cutoff(place.layer));
    case activated:
        return "activated = resid_mid + mlp_out";
    case corrected:
        return "corrected = predicted + (1 + altup.correct_coefficients[:, 0]) × altup.innovation";
    case layer_out:
        return "layer_out = layer_raw ÷ √(mean of its squares + ε) · layer_norm_weight";
    case resid_out:
        return "resid_out = corrected";
    case merged:
        return "merged = copies_sum · 0.25";
    default:
        return {};
    }
}

} // namespace headscope::test
