#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/weights_tile.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

using namespace headscope;
using namespace headscope::engine;

namespace {

/// What it takes to make weights again, and nothing of size Tq x Tk.
Trace without_weights(const Problem& problem) {
    using enum TensorId;
    Progress progress;
    StageSet wanted = StageSet{}.with(q).with(k).with(output);
    if (problem.rotary)
        wanted = wanted.with(q_heads).with(k_heads);
    return cpu::CpuEngine(2).run(problem, wanted, progress);
}

/// How many numbers of all tiles of this size are not those that a run keeps, bit for bit.
int strangers(const Problem& problem, std::int64_t rows, std::int64_t cols) {
    const Trace kept = cpu::CpuEngine(1).run(problem), rest = without_weights(problem);
    const Dims& d = problem.dims;
    int count = 0;
    for (std::int64_t b = 0; b < d.B; ++b)
        for (std::int64_t h = 0; h < d.H; ++h)
            for (std::int64_t row = 0; row + rows <= d.Tq; row += rows)
                for (std::int64_t col = 0; col + cols <= d.Tk; col += cols) {
                    const Tensor tile = cpu::weights_tile(problem, rest, {b, h, row, col, rows, cols});
                    for (std::int64_t r = 0; r < rows; ++r)
                        for (std::int64_t c = 0; c < cols; ++c)
                            count +=
                                tile.at(r, c) == kept.stage(TensorId::weights)->at(b, h, row + r, col + c)
                                    ? 0
                                    : 1;
                }
    return count;
}

} // namespace

TEST_CASE("any rectangle of weights that were not kept is made again, bit for bit") {
    constexpr Dims dims{.B = 2, .Tq = 60, .Tk = 84, .D = 20, .Dkv = 12, .H = 4, .Hkv = 2, .dk = 5, .dv = 3};
    Numbers numbers(21);
    Problem problem = generate(dims, {.biases = true, .temperature = 0.7F}, numbers, true);
    CHECK(strangers(problem, 60, 84) == 0);
    CHECK(strangers(problem, 20, 21) == 0);
    CHECK(strangers(problem, 1, 1) == 0);
    for (int kind = 0; kind < rule_kinds; ++kind) {
        INFO(kind);
        problem.mask = {generate_rule(kind, dims, numbers),
                        generate_rule((kind * 5 + 1) % rule_kinds, dims, numbers)};
        CHECK(strangers(problem, 12, 7) == 0);
    }
}

TEST_CASE("rotated queries and keys are read where they were kept") {
    constexpr Dims dims{.B = 1, .Tq = 30, .Tk = 30, .D = 16, .Dkv = 16, .H = 2, .Hkv = 2, .dk = 8, .dv = 8};
    Numbers numbers(22);
    Problem problem = generate(dims, {}, numbers);
    problem.rotary = Rotary{numbers.tensor({1, 30, 8}, 1), numbers.tensor({1, 30, 8}, 1)};
    CHECK(strangers(problem, 10, 15) == 0);
}

TEST_CASE("a rectangle outside, or of a trace that lacks what it takes, is refused") {
    constexpr Dims dims{.B = 1, .Tq = 3, .Tk = 3, .D = 4, .Dkv = 4, .H = 2, .Hkv = 2, .dk = 2, .dv = 2};
    Numbers numbers(23);
    const Problem problem = generate(dims, {}, numbers);
    const Trace trace = without_weights(problem);
    CHECK(input_error([&] {
              cpu::weights_tile(problem, trace, {0, 0, 2, 0, 2, 1});
          }) ==
          "rows 2 to 3 and columns 0 to 0 of head 0 in batch entry 0 are asked for; the weights have (B, H, "
          "Tq, Tk) = (1, 2, 3, 3)");
    CHECK_THAT(input_error([&] {
                   cpu::weights_tile(problem, trace, {0, 2, 0, 0, 1, 1});
               }),
               Catch::Contains("of head 2 in batch entry 0"));
    CHECK_THAT(input_error([&] {
                   cpu::weights_tile(problem, trace, {0, 0, 0, 0, 0, 1});
               }),
               Catch::Contains("rows 0 to -1"));
    CHECK_THAT(input_error([&] {
                   cpu::weights_tile(problem, cpu::CpuEngine(1).run(problem), {0, 0, 0, 0, 1, 1});
               }),
               Catch::Contains("run it with them and without weights"));
}
