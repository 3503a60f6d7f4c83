#include "core/engine/cpu/dense.h"

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/support.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace headscope;

namespace {

Tensor random(const Shape& shape, unsigned seed) {
    std::mt19937 numbers(seed);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    Tensor tensor(shape);
    std::ranges::generate(tensor.values(), [&] { return uniform(numbers); });
    return tensor;
}

Tensor transposed(const Tensor& x) {
    Tensor y(Shape{x.shape()[1], x.shape()[0]});
    for (std::int64_t i = 0; i < x.shape()[0]; ++i)
        for (std::int64_t c = 0; c < x.shape()[1]; ++c)
            y.at(c, i) = x.at(i, c);
    return y;
}

/// Largest distance of y from x w + b in double.
double product_error(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor* b) {
    double worst = 0;
    for (std::int64_t n = 0; n < x.shape()[0]; ++n)
        for (std::int64_t i = 0; i < x.shape()[1]; ++i)
            for (std::int64_t c = 0; c < w.shape()[1]; ++c) {
                double sum = b == nullptr ? 0.0 : static_cast<double>(b->at(c));
                for (std::int64_t k = 0; k < w.shape()[0]; ++k)
                    sum += static_cast<double>(x.at(n, i, k)) * static_cast<double>(w.at(k, c));
                worst = std::max(worst, std::abs(sum - static_cast<double>(y.at(n, i, c))));
            }
    return worst;
}

} // namespace

TEST_CASE("products around attention meet their definition, whatever the sizes") {
    struct Size {
        std::int64_t B, T, depth, columns;
    };
    cpu::CpuDense cpu(2), alone(1);
    const Progress progress;
    for (const Size& s :
         {Size{1, 1, 3, 1}, Size{2, 5, 17, 50}, Size{1, 40, 33, 97}, Size{1, 300, 24, 130},
          Size{1, 3, 2050, 49}, Size{3, 90, 70, 200}, Size{1, 1, 70, 211}, Size{1, 1, 1030, 800}}) {
        INFO(s.B << " " << s.T << " " << s.depth << " " << s.columns);
        const Tensor x = random({s.B, s.T, s.depth}, 1), W = random({s.depth, s.columns}, 2),
                     b = random({s.columns}, 3), table = transposed(W);
        for (const Tensor* bias : {static_cast<const Tensor*>(nullptr), &b}) {
            const auto y = cpu.multiply(x, W, bias, progress);
            CHECK(product_error(*y, x, W, bias) < 1e-6 * std::sqrt(static_cast<double>(s.depth)) + 1e-6);
            CHECK(std::ranges::equal(y->values(), alone.multiply(x, W, bias, progress)->values()));
            // The same sums in the same order.
            CHECK(std::ranges::equal(y->values(), cpu.multiply_by_rows(x, table, bias, progress)->values()));
        }
    }
}

TEST_CASE("work around attention is cancelled between its parts and covers every row once") {
    cpu::CpuDense cpu(2);
    Progress progress;
    progress.cancel();
    const Tensor x = random({1, 64, 64}, 1), W = random({64, 640}, 2);
    CHECK(error_kind([&] { cpu.multiply(x, W, nullptr, progress); }) == ErrorKind::cancelled);
    for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, std::int64_t{1000}})
        for (const std::int64_t flops : {std::int64_t{1}, std::int64_t{10'000'000}}) {
            std::vector<int> touched(static_cast<std::size_t>(rows));
            cpu.for_rows(rows, flops, [&](std::int64_t first, std::int64_t count) {
                for (std::int64_t i = first; i < first + count; ++i)
                    ++touched[static_cast<std::size_t>(i)];
            });
            CHECK(std::ranges::all_of(touched, [](int times) { return times == 1; }));
        }
}
