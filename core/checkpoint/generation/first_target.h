#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/text_model.h"

namespace headscope::checkpoint {

/// A dozen: enough to see who reads whom.
inline constexpr std::int64_t most_first_tokens = 12;

/// `inputs` of an encoder-decoder with what its decoder writes behind them by itself, always the likeliest
/// token: at most most_first_tokens, and fewer where the token that ends a text comes (it is left out), where
/// the model has no position left, or where the writing takes longer than a few seconds. Without a tokenizer
/// or a head nothing is written. Throws Error(input) for inputs or edits that do not fit the model, and
/// Error(cancelled).
ModelInputs with_first_target(const TextModel& model, const ModelInputs& inputs, const ModelEdits& edits,
                              Progress& progress);

} // namespace headscope::checkpoint
