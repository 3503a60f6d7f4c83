#pragma once

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <span>
#include <string>

namespace headscope::analysis {

/// Throws Error(input) where an activation of another run stands in this one: its writers do not add up to
/// the stream.
inline void require_unpatched(const checkpoint::ModelRun& run) {
    if (checkpoint::is_patched(run.edits()))
        fail_input(tr("rows.activation_another_prompt_patched",
                      "an activation of another prompt is patched into this run, so its residual stream "
                      "components do not add up; return to the prompt's own run"));
}

/// The numbers of one row of a tensor whose last axis is a row.
inline std::span<const float> row_of(const Tensor& x, std::int64_t row) {
    const auto width = static_cast<std::size_t>(x.shape().back(0));
    return x.values().subspan(static_cast<std::size_t>(row) * width, width);
}

inline Tensor copy_of(const Tensor& tensor) {
    return {tensor.shape(), tensor.values()};
}

enum class Numbered : std::uint8_t { position, token, layer, head, attention };

/// Throws Error(input) naming those there are, unless number is one of them.
inline void require_number(std::int64_t number, std::int64_t count, Numbered what) {
    if (number >= 0 && number < count)
        return;
    switch (what) {
    case Numbered::position:
        fail_input(tr("rows.no_position_positions_numbered",
                      "there is no position {}; positions are numbered 0 to {}", number, count - 1));
    case Numbered::token:
        fail_input(tr("rows.no_token_tokens_numbered", "there is no token {}; tokens are numbered 0 to {}",
                      number, count - 1));
    case Numbered::layer:
        fail_input(tr("common.no_layer_layers_numbered", "there is no layer {}; layers are numbered 0 to {}",
                      number, count - 1));
    case Numbered::head:
        fail_input(tr("common.no_head_heads_numbered", "there is no head {}; heads are numbered 0 to {}",
                      number, count - 1));
    case Numbered::attention:
        fail_input(tr("rows.no_attention_attentions_numbered",
                      "there is no attention {}; attentions are numbered 0 to {}", number, count - 1));
    }
}

} // namespace headscope::analysis
