#include "core/checkpoint/run/longer_text.h"

#include "core/checkpoint/model/rope.h"

#include <algorithm>

namespace headscope::checkpoint {

TensorPtr with_rows(const Tensor& before, const Tensor& behind) {
    const std::int64_t T = before.shape()[1] + behind.shape()[1];
    auto out = std::make_shared<Tensor>(Shape{1, T, before.shape()[2]});
    std::ranges::copy(behind.values(), std::ranges::copy(before.values(), out->data()).out);
    return out;
}

TensorPtr with_queries(const Tensor& before, const Tensor& behind) {
    const std::int64_t H = before.shape()[1], t = before.shape()[2], T = behind.shape()[3];
    auto out = std::make_shared<Tensor>(Shape{1, H, T, T});
    float* to = out->data();
    for (std::int64_t h = 0; h < H; ++h) {
        for (std::int64_t i = 0; i < t; ++i, to += T)
            std::fill(std::copy_n(before.data() + before.offset(0, h, i, 0), t, to), to + T, 0.0F);
        to = std::copy_n(behind.data() + behind.offset(0, h, 0, 0), (T - t) * T, to);
    }
    return out;
}

bool goes_on(const Model& model, const ModelInputs& shorter, const ModelInputs& longer) {
    const auto plain = [](const ModelInputs& inputs) {
        return inputs.B == 1 && inputs.T > 0 && inputs.attention_mask.empty() && inputs.token_types.empty() &&
               inputs.source.empty();
    };
    const ModelConfig& config = model.config();
    return config.causal && config.encoder == nullptr && plain(shorter) && plain(longer) &&
           longer.T > shorter.T && std::equal(shorter.ids.begin(), shorter.ids.end(), longer.ids.begin()) &&
           !angles_change(model, shorter.T, longer.T);
}

} // namespace headscope::checkpoint
