#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/kernels/kernels.h"
#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/conformance/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace headscope;
using namespace headscope::engine;

namespace {

/// Returns the kernels that this processor supports.
std::vector<const cpu::Kernels*> all_kernels() {
    std::vector<const cpu::Kernels*> found;
    for (const char* id : {"avx512", "avx2", "baseline"})
        if (const cpu::Kernels* kernels = cpu::find_kernels(id); kernels != nullptr)
            found.push_back(kernels);
    return found;
}

} // namespace

TEST_CASE("every processor has kernels, the fastest are taken, and no others are found", "[processor]") {
    CHECK(cpu::find_kernels("baseline") != nullptr);
    CHECK(cpu::find_kernels("abacus") == nullptr);
    if (std::getenv("HEADSCOPE_KERNELS") == nullptr)
        CHECK(&cpu::best_kernels() == all_kernels().front());
}

TEST_CASE("the kernels of every instruction set meet the golden and the generated cases") {
    auto cases = generated_cases();
    for (ConformanceCase& one : cases)
        one.expected = reference_trace(one.problem);
    for (ConformanceCase& one : golden_cases())
        cases.push_back(std::move(one));
    for (const cpu::Kernels* kernels : all_kernels()) {
        INFO(kernels->name);
        cpu::CpuEngine engine(2, *kernels);
        for (const std::string& line : failures(cases, engine))
            FAIL_CHECK(line);
    }
}

TEST_CASE("products of all small sizes, with edges, in parts of the depth, with factor and bias",
          "[processor]") {
    Numbers numbers(3);
    constexpr std::int64_t most_rows = 14, depth = 9, most_cols = 70;
    const TensorPtr A = numbers.tensor({most_rows, depth}, 1), B = numbers.tensor({depth, 96}, 1),
                    bias = numbers.tensor({96}, 1);
    for (const cpu::Kernels* kernels : all_kernels()) {
        INFO(kernels->name);
        std::vector<float> panels(static_cast<std::size_t>(96 * depth));
        kernels->pack(B->data(), 96, depth, 96, panels.data());
        for (std::int64_t rows = 1; rows <= most_rows; ++rows)
            for (const std::int64_t cols : {1, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 70}) {
                std::vector<float> C(static_cast<std::size_t>(rows * most_cols), 7.0F);
                cpu::Product product{.A = A->data(),
                                     .A_stride = depth,
                                     .B = panels.data(),
                                     .B_stride = kernels->panel,
                                     .panel_stride = kernels->panel * depth,
                                     .C = C.data(),
                                     .C_stride = most_cols,
                                     .rows = rows,
                                     .depth = 4,
                                     .cols = cols,
                                     .accumulate = false,
                                     .last = false,
                                     .bias = bias->data(),
                                     .factor = 0.5F};
                CHECK(kernels->multiply(product));
                product.A += 4;
                product.B += 4 * kernels->panel;
                product.depth = depth - 4;
                product.accumulate = product.last = true;
                CHECK(kernels->multiply(product));
                double worst = 0;
                for (std::int64_t r = 0; r < rows; ++r)
                    for (std::int64_t c = 0; c < most_cols; ++c) {
                        double expected = 0;
                        for (std::int64_t k = 0; k < depth; ++k)
                            expected += static_cast<double>(A->at(r, k)) * static_cast<double>(B->at(k, c));
                        expected = c < cols ? expected * 0.5 + static_cast<double>(bias->at(c)) : 7.0;
                        worst = std::max(
                            worst, std::abs(expected - static_cast<double>(
                                                           C[static_cast<std::size_t>(r * most_cols + c)])));
                    }
                CHECK(worst < 1e-6);
            }
    }
}

TEST_CASE("one row times a matrix, or times its transpose, has the bits of a product", "[processor]") {
    Numbers numbers(4);
    constexpr std::int64_t most = 70;
    const TensorPtr x = numbers.tensor({1, most}, 1), B = numbers.tensor({most, most}, 1);
    for (const cpu::Kernels* kernels : all_kernels()) {
        INFO(kernels->name);
        int different = 0;
        for (const std::int64_t depth : {1, 3, 8, 15, 16, 17, 33, 70})
            for (std::int64_t cols = 1; cols <= most; ++cols) {
                std::vector<float> panels(static_cast<std::size_t>(96 * depth)), transposed, C(most, 7.0F),
                    row(C), of_transposed(C);
                kernels->pack(B->data(), most, depth, cols, panels.data());
                kernels->multiply({.A = x->data(),
                                   .A_stride = most,
                                   .B = panels.data(),
                                   .B_stride = kernels->panel,
                                   .panel_stride = kernels->panel * depth,
                                   .C = C.data(),
                                   .C_stride = most,
                                   .rows = 1,
                                   .depth = depth,
                                   .cols = cols});
                for (std::int64_t c = 0; c < cols; ++c)
                    for (std::int64_t k = 0; k < depth; ++k)
                        transposed.push_back(B->at(k, c));
                kernels->multiply_row(x->data(), B->data(), most, depth, cols, row.data());
                kernels->multiply_row_transposed(x->data(), transposed.data(), depth, cols,
                                                 of_transposed.data());
                different += row == C ? 0 : 1;
                different += of_transposed == C ? 0 : 1;
            }
        CHECK(different == 0);
    }
}

TEST_CASE("a product says when a number of it is not finite", "[processor]") {
    for (const cpu::Kernels* kernels : all_kernels()) {
        INFO(kernels->name);
        std::vector<float> A(13, 1.0F), B(static_cast<std::size_t>(kernels->panel), 1.0F), C(13 * 64);
        cpu::Product product{.A = A.data(),
                             .A_stride = 1,
                             .B = B.data(),
                             .B_stride = kernels->panel,
                             .panel_stride = kernels->panel,
                             .C = C.data(),
                             .C_stride = kernels->panel,
                             .rows = 13,
                             .depth = 1,
                             .cols = kernels->panel};
        CHECK(kernels->multiply(product));
        A.back() = 3e38F;
        CHECK(kernels->multiply(product));
        B.back() = -3e38F;
        CHECK_FALSE(kernels->multiply(product));
        B.back() = 1;
        product.factor = 2;
        CHECK_FALSE(kernels->multiply(product));
    }
}

TEST_CASE("exponentials are right to 2e-7 over the whole range, and exactly 0 below it", "[processor]") {
    for (const cpu::Kernels* kernels : all_kernels()) {
        INFO(kernels->name);
        constexpr std::size_t count = 400'003;
        std::vector<float> row(count), from(count);
        for (std::size_t j = 0; j < count; ++j)
            row[j] = from[j] = -87.336F * static_cast<float>(j) / static_cast<float>(count);
        const float sum = kernels->exponentials(row.data(), count, 0.0F);
        double worst = 0, expected_sum = 0;
        for (std::size_t j = 0; j < count; ++j) {
            const double expected = std::exp(static_cast<double>(from[j]));
            expected_sum += expected;
            worst = std::max(worst, std::abs(static_cast<double>(row[j]) / expected - 1));
        }
        CHECK(worst < 2e-7);
        CHECK(static_cast<double>(sum) == Approx(expected_sum).epsilon(5e-5));
        const float infinity = std::numeric_limits<float>::infinity();
        std::vector<float> edge{-infinity, 5.0F, -1e30F, -83.0F, 5.0F};
        CHECK(kernels->exponentials(edge.data(), 5, 5.0F) == 2.0F);
        CHECK(edge == std::vector<float>{0.0F, 1.0F, 0.0F, 0.0F, 1.0F});
    }
}

TEST_CASE("the largest of a row, and a row scaled in both places", "[processor]") {
    Numbers numbers(8);
    for (const cpu::Kernels* kernels : all_kernels())
        for (const std::int64_t count : {0, 1, 3, 4, 5, 16, 31, 32, 33, 100}) {
            INFO(kernels->name << " " << count);
            const TensorPtr source = numbers.tensor({101}, 4);
            std::vector<float> row(source->data(), source->data() + count), out(row.size() + 1, 9.0F);
            const float expected =
                row.empty() ? -std::numeric_limits<float>::infinity() : *std::ranges::max_element(row);
            CHECK(kernels->largest(row.data(), count) == expected);
            kernels->scale_row(row.data(), count, 0.5F, out.data(), count > 32);
            for (std::size_t j = 0; j < row.size(); ++j)
                CHECK((row[j] == 0.5F * source->data()[j] && out[j] == row[j]));
            CHECK(out.back() == 9.0F);
        }
}

TEST_CASE("the activations of every instruction set meet their definitions", "[processor]") {
    constexpr double root_half = 0.70710678118654752440;
    const auto gelu = [](double x) { return 0.5 * x * std::erfc(-x * root_half); };
    const auto gelu_tanh = [](double x) {
        return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    };
    const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
    for (const cpu::Kernels* kernels : all_kernels()) {
        INFO(kernels->name);
        const auto worst = [](auto function, auto expected) {
            double largest = 0;
            std::vector<float> x;
            for (int i = -130'003; i <= 130'000; ++i)
                x.push_back(1e-4F * static_cast<float>(i));
            std::vector<float> y = x;
            function(y.data(), static_cast<std::int64_t>(y.size()));
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double want = expected(static_cast<double>(x[i]));
                largest = std::max(largest, std::abs(static_cast<double>(y[i]) - want) / std::max(1.0, want));
            }
            return largest;
        };
        CHECK(worst(kernels->gelu, gelu) < 3e-7);
        CHECK(worst(kernels->gelu_tanh, gelu_tanh) < 3e-7);
        CHECK(worst(kernels->silu, silu) < 3e-7);
        // Far out there is x or 0.
        for (const auto function : {kernels->gelu, kernels->gelu_tanh, kernels->silu})
            for (const float x : {-1e20F, -1000.0F, 0.0F, 1000.0F, 1e20F}) {
                float y = x;
                function(&y, 1);
                CHECK(static_cast<double>(y) == Approx(std::max(x, 0.0F)).epsilon(1e-6).margin(1e-12));
            }
    }
}
