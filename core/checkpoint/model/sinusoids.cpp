#include "core/checkpoint/model/sinusoids.h"

#include <cmath>

namespace headscope::checkpoint {

TensorPtr sinusoid_table(std::int64_t rows, std::int64_t D) {
    auto table = std::make_shared<Tensor>(Shape{rows, D});
    const std::int64_t sines = (D + 1) / 2;
    for (std::int64_t t = 0; t < rows; ++t)
        for (std::int64_t c = 0; c < D; ++c) {
            const std::int64_t pair = c < sines ? c : c - sines;
            const double angle = static_cast<double>(t) /
                                 std::pow(10000.0, 2.0 * static_cast<double>(pair) / static_cast<double>(D));
            table->at(t, c) = static_cast<float>(c < sines ? std::sin(angle) : std::cos(angle));
        }
    return table;
}

} // namespace headscope::checkpoint
