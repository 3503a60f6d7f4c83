#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/run/growing_text.h"
#include "core/tensor/tensor.h"

#include <mutex>
#include <optional>
#include <utility>

namespace headscope::checkpoint {

// A text whose first tokens were run: their numbers stay, because a causal model reads no later token.

/// Returns true if `longer` is `shorter` with tokens behind it, in a causal model of one stack in which what
/// was computed of `shorter` stays as it is. One text each, without padding and token types.
bool goes_on(const Model& model, const ModelInputs& shorter, const ModelInputs& longer);

/// (1, T, D) from (1, t, D) and the (1, T - t, D) behind them.
TensorPtr with_rows(const Tensor& before, const Tensor& behind);

/// (1, H, T, T) from (1, H, t, t) and the rows of the later queries, (1, H, T - t, T); the earlier ones give
/// 0 to later keys.
TensorPtr with_queries(const Tensor& before, const Tensor& behind);

/// Keys and values for the run of a longer text, which takes them. Taken once: the next taker gets none and
/// computes them again. Any thread may use every member.
class HandedOnText {
public:
    void hold(GrowingText text) {
        const std::lock_guard lock(mutex_);
        text_ = std::move(text);
    }
    /// Const, because the numbers of the run that hands them on do not change.
    std::optional<GrowingText> take() const {
        const std::lock_guard lock(mutex_);
        return std::exchange(text_, std::nullopt);
    }

private:
    mutable std::mutex mutex_;
    mutable std::optional<GrowingText> text_;
};

} // namespace headscope::checkpoint
