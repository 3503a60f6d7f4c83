#pragma once

#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/model/stacks.h"
#include "core/trace/attention_set.h"

namespace headscope::checkpoint {

/// What the attention weights of one stack are when the model reads these inputs.
AttentionInfo attention_info(const Model& model, const ModelInputs& inputs, Stack stack);

} // namespace headscope::checkpoint
