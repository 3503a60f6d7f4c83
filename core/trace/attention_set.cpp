#include "core/trace/attention_set.h"

#include <algorithm>

namespace headscope {

void copy_part(const Tensor& layer, std::int64_t h, const MapPart& part, std::span<float> to) {
    float* out = to.data();
    for (std::int64_t i = part.row; i < part.row + part.rows; ++i)
        out = std::copy_n(layer.data() + layer.offset(0, h, i, part.col), part.cols, out);
}

void for_rows(const AttentionSet& set, std::int64_t l, std::int64_t h,
              const std::function<void(std::int64_t first, std::span<const float> rows)>& take) {
    constexpr std::int64_t at_once = std::int64_t{1} << 22U; // numbers
    const std::int64_t Tq = set.info().Tq, Tk = set.info().Tk;
    const std::int64_t most = std::clamp<std::int64_t>(at_once / Tk, 1, Tq);
    std::vector<float> room(static_cast<std::size_t>(most * Tk));
    for (std::int64_t first = 0; first < Tq; first += most) {
        const std::int64_t rows = std::min(most, Tq - first);
        const auto part = std::span<float>(room).first(static_cast<std::size_t>(rows * Tk));
        set.read_part(l, h, {first, 0, rows, Tk}, part);
        take(first, part);
    }
}

} // namespace headscope
