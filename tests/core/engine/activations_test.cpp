#include "core/checkpoint/graph/stack_text.h"
#include "core/engine/cpu/rows/layer_rows.h"

#include "tests/catch.h"

#include <array>
#include <cmath>
#include <limits>

using namespace headscope;
using namespace headscope::checkpoint;

TEST_CASE("activations are those of Hugging Face's ACT2FN") {
    // From torch, in float64, at -20, -3, -0.5, 0, 0.5, 3 and 20.
    constexpr std::array<float, 7> points{-20.0F, -3.0F, -0.5F, 0.0F, 0.5F, 3.0F, 20.0F};
    struct Row {
        graph::Function activation;
        std::array<double, 7> expected;
    };
    const std::array rows = std::to_array<Row>(
        {{graph::Function::gelu, {-0, -0.00404969409, -0.154268769, 0, 0.345731231, 2.99595031, 20}},
         {graph::Function::gelu_tanh, {-0, -0.00363739208, -0.15428599, 0, 0.34571401, 2.99636261, 20}},
         {graph::Function::gelu_quick,
          {-3.29341024e-14, -0.0180713097, -0.149611563, 0, 0.350388437, 2.98192869, 20}},
         {graph::Function::relu, {0, 0, 0, 0, 0.5, 3, 20}},
         {graph::Function::relu6, {0, 0, 0, 0, 0.5, 3, 6}},
         {graph::Function::relu_square, {0, 0, 0, 0, 0.25, 9, 400}},
         {graph::Function::leaky_relu, {-0.2, -0.03, -0.005, 0, 0.5, 3, 20}},
         {graph::Function::silu,
          {-4.12230724e-08, -0.14227762, -0.188770334, 0, 0.311229666, 2.85772238, 20}},
         {graph::Function::mish, {-4.12230724e-08, -0.145647461, -0.220743775, 0, 0.375245211, 2.986535, 20}},
         {graph::Function::tanh, {-1, -0.995054754, -0.462117157, 0, 0.462117157, 0.995054754, 1}},
         {graph::Function::sigmoid,
          {2.06115362e-09, 0.0474258732, 0.377540669, 0.5, 0.622459331, 0.952574127, 0.999999998}},
         {graph::Function::identity, {-20, -3, -0.5, 0, 0.5, 3, 20}}});
    cpu::CpuDense cpu;
    const Progress never;
    for (const Row& row : rows) {
        INFO("activation " << static_cast<int>(row.activation));
        Tensor x(Shape{1, 1, 7});
        std::ranges::copy(points, x.data());
        cpu::activate(cpu, x.values(), row.activation, never);
        for (std::size_t i = 0; i < points.size(); ++i)
            CHECK(x.data()[i] == Approx(row.expected[i]).margin(1e-6));
    }
}

TEST_CASE("activations stay numbers at the ends of float32") {
    for (const graph::Function activation :
         {graph::Function::gelu, graph::Function::gelu_tanh, graph::Function::gelu_quick,
          graph::Function::relu, graph::Function::relu6, graph::Function::leaky_relu, graph::Function::silu,
          graph::Function::mish, graph::Function::tanh, graph::Function::sigmoid}) {
        INFO("activation " << static_cast<int>(activation));
        cpu::CpuDense cpu;
        Tensor x(Shape{1, 1, 2});
        x.data()[0] = std::numeric_limits<float>::lowest();
        x.data()[1] = 1e30F;
        cpu::activate(cpu, x.values(), activation, Progress());
        CHECK(std::isfinite(x.data()[0]));
        CHECK(std::isfinite(x.data()[1]));
    }
}
