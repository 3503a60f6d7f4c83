#include "core/checkpoint/model/score_bias.h"

#include "core/checkpoint/architecture/architecture.h"

#include <bit>
#include <cmath>
#include <vector>

namespace headscope::checkpoint {

namespace {

/// The nearest bfloat16, ties to even.
float as_bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF0000U);
}

} // namespace

std::vector<float> alibi_slopes(std::int64_t H) {
    const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(H)));
    std::vector<float> slopes;
    for (std::int64_t h = 0; h < H; ++h) {
        const double step = h < power ? 8.0 / static_cast<double>(power) : 4.0 / static_cast<double>(power);
        const auto factor = static_cast<double>(h < power ? h + 1 : 2 * (h - power) + 1);
        slopes.push_back(static_cast<float>(std::exp2(-step * factor)));
    }
    return slopes;
}

TensorPtr alibi(const Architecture& architecture, const ModelInputs& inputs) {
    const std::vector<float> slopes = alibi_slopes(architecture.H);
    auto added = std::make_shared<Tensor>(Shape{inputs.B, architecture.H, 1, inputs.T});
    for (std::int64_t b = 0; b < inputs.B; ++b)
        for (std::int64_t h = 0; h < architecture.H; ++h) {
            const float slope = architecture.alibi == Alibi::after_scale
                                    ? slopes[static_cast<std::size_t>(h)]
                                    : as_bfloat16(slopes[static_cast<std::size_t>(h)]);
            std::int64_t place = -1;
            for (std::int64_t j = 0; j < inputs.T; ++j) {
                const bool real = inputs.attention_mask.empty() ||
                                  inputs.attention_mask[static_cast<std::size_t>(b * inputs.T + j)] != 0;
                place += real ? 1 : 0;
                const float term = real ? slope * static_cast<float>(place) : 0.0F;
                added->at(b, h, 0, j) =
                    architecture.alibi == Alibi::after_scale
                        ? term
                        : as_bfloat16(term) / std::sqrt(static_cast<float>(architecture.dk));
            }
        }
    return added;
}

TensorPtr distance_bias(const DistanceBuckets& buckets, const Tensor& biases, std::int64_t T,
                        std::int64_t first) {
    const std::int64_t H = biases.shape()[1];
    std::vector<std::int64_t> bucket(static_cast<std::size_t>(2 * T)); // of distance j - i at T + j - i
    for (std::int64_t distance = -T; distance < T; ++distance)
        bucket[static_cast<std::size_t>(T + distance)] = buckets.bucket_of(distance);
    auto added = std::make_shared<Tensor>(Shape{1, H, T - first, T});
    for (std::int64_t h = 0; h < H; ++h)
        for (std::int64_t i = first; i < T; ++i)
            for (std::int64_t j = 0; j < T; ++j)
                added->at(0, h, i - first, j) = biases.at(bucket[static_cast<std::size_t>(T + j - i)], h);
    return added;
}

} // namespace headscope::checkpoint
