#pragma once

#include "core/checkpoint/model/model.h"
#include "core/checkpoint/run/forward.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace headscope::analysis {

/// What one writer of the residual stream adds to a logit.
struct LogitPart {
    enum class Writer : std::uint8_t {
        embedding,   ///< all that layer 0 reads: words and learned positions
        head,        ///< its rows of W_O times its output, gain included
        output_bias, ///< b_O of a layer
        mlp,
        norm_bias, ///< of the final norm
        head_bias  ///< of the language-model head
    };
    Writer writer{};
    std::int64_t layer = -1, head = -1; ///< -1: it has none
    double value = 0;
};

/// Direct logit attribution (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits") at one
/// position of batch entry 0: each writer's vector c gives ((c - mean c) / sigma * gamma) . (u_t - u_s), with
/// the run's own sigma of the final norm and rows u of the output table; RMSNorm takes no mean off. Without
/// `against`, u_s is 0. The values add up to the logit of `token`, less that of `against`, before a cap.
/// `run` holds every layer's contributions, resid_in, mlp_out and resid_out. Throws Error(input) for models
/// whose branches pass a norm of their own, and for those without a final norm or with a dense layer in the
/// head.
std::vector<LogitPart> logit_attribution(const checkpoint::Model& model, const checkpoint::ForwardResult& run,
                                         std::int64_t position, std::int64_t token,
                                         std::optional<std::int64_t> against);

} // namespace headscope::analysis
