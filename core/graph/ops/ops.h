#pragma once

#include "core/graph/operation.h"

/// The operations, one file each.
namespace headscope::graph::ops {

const Operation& parameter();
const Operation& input();
const Operation& constant();
const Operation& embedding();
const Operation& linear();
const Operation& add();
const Operation& multiply();
const Operation& scale();
const Operation& soft_cap();
const Operation& slice();
const Operation& concat();
const Operation& rms_norm();
const Operation& layer_norm();
const Operation& match_magnitude();
const Operation& mix();
const Operation& split_heads();
const Operation& head_norm();
const Operation& joint_norm();
const Operation& rotate();
const Operation& token_scale();
const Operation& dot_product();
const Operation& alibi();
const Operation& distance_bias();
const Operation& relative_product();
const Operation& mask();
const Operation& softmax();
const Operation& mean();
const Operation& value_sum();
const Operation& join_heads();
const Operation& head_projection();
const Operation& activation();
const Operation& gaussian_top_k();
const Operation& gate();
const Operation& route();
const Operation& expert_linear();
const Operation& expert_sum();
const Operation& causal_conv();
const Operation& decay();
const Operation& delta_rule();

} // namespace headscope::graph::ops
