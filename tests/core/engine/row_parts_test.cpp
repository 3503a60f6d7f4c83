#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/row_parts.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"

#include <algorithm>
#include <cstring>

using namespace headscope;

namespace {

constexpr Dims uneven{.B = 2, .Tq = 61, .Tk = 83, .D = 20, .Dkv = 12, .H = 4, .Hkv = 2, .dk = 5, .dv = 3};
constexpr Dims even{.B = 1, .Tq = 70, .Tk = 70, .D = 32, .Dkv = 32, .H = 4, .Hkv = 2, .dk = 8, .dv = 8};

/// Returns the number of rows in all parts of a stage that differ in any bit from those of a run that keeps
/// all stages.
int strange_rows(const Tensor& whole, TensorId stage, cpu::RowParts& parts, std::int64_t heads,
                 std::int64_t rows) {
    const bool mean = stage == TensorId::weights_mean;
    const std::int64_t H = mean ? 1 : whole.shape()[1], Tq = whole.shape().back(1),
                       width = whole.shape().back(0);
    int count = 0;
    for (std::int64_t b = 0; b < whole.shape()[0]; ++b)
        for (std::int64_t h = 0; h < H; h += heads)
            for (std::int64_t row = 0; row < Tq; row += rows) {
                const std::int64_t part_rows = std::min(rows, Tq - row), part_heads = mean ? 1 : heads;
                const TensorPtr part = parts.make(
                    stage, {.b = b, .h = h, .heads = mean ? even.H : heads, .row = row, .rows = part_rows});
                REQUIRE(part->count() == part_heads * part_rows * width);
                for (std::int64_t r = 0; r < part_heads * part_rows; ++r) {
                    const std::int64_t of_head = h + r / part_rows, i = row + r % part_rows;
                    const float* const kept = whole.data() + ((b * H + of_head) * Tq + i) * width;
                    count += std::memcmp(part->data() + r * width, kept,
                                         sizeof(float) * static_cast<std::size_t>(width)) == 0
                                 ? 0
                                 : 1;
                }
            }
    return count;
}

void check_parts(const Problem& problem) {
    const Trace trace = cpu::CpuEngine(1).run(problem);
    Progress progress;
    for (const int threads : {1, 2}) {
        cpu::RowParts parts(problem, cpu::make_cpu_machine(threads), progress);
        for (const TensorInfo& info : stage_table())
            if (cpu::RowParts::stages().has(info.id)) {
                CAPTURE(info.name, threads);
                const Tensor& whole = *trace.stage(info.id);
                if (threads > 1) // single rows take most of the time
                    CHECK(strange_rows(whole, info.id, parts, 1, 1) == 0);
                CHECK(strange_rows(whole, info.id, parts, 2, 26) == 0);
                CHECK(strange_rows(whole, info.id, parts, 4, 100) == 0);
            }
    }
}

} // namespace

TEST_CASE("stages made some rows at a time are those of a whole run, bit for bit, whatever the mask") {
    Numbers numbers(41);
    Problem problem = generate(uneven, {.biases = true, .gains = true, .temperature = 0.7F}, numbers, true);
    check_parts(problem);
    for (int kind = 0; kind < cpu_rule_kinds; ++kind) {
        INFO(kind);
        problem.mask = {generate_rule(kind, uneven, numbers)};
        check_parts(problem);
        problem.mask.push_back(generate_rule((kind * 5 + 1) % rule_kinds, uneven, numbers));
        check_parts(problem);
    }
}

TEST_CASE("so they are with sinks, norms, rotation, a soft cap and limited projections") {
    Numbers numbers(42);
    Problem problem = generate(even, {.joint_norm = true, .sink = true}, numbers);
    problem.mask = {SlidingWindowCausalMask{20}};
    check_parts(problem);
    problem.score_cap = 0.5F;
    problem.mask = {CausalMask{}};
    problem.rotary = Rotary{numbers.tensor({1, 70, 8}, 1), numbers.tensor({1, 70, 8}, 1)};
    check_parts(problem);
    problem = generate(even, {.query_scale = true}, numbers);
    problem.mask = {ChunkedCausalMask{20}};
    check_parts(problem);
    problem = generate(even, {.qkv_limit = 0.7F}, numbers);
    problem.weights.q_norm = numbers.tensor({8}, 1);
    problem.weights.k_norm = numbers.tensor({8}, 1);
    problem.mask = {KeyPaddingMask{numbers.bools({1, 70}, 60)}, CausalMask{}};
    check_parts(problem);
}

TEST_CASE("a part of a cancelled run ends") {
    Numbers numbers(43);
    Progress progress;
    cpu::RowParts parts(generate(even, {}, numbers), cpu::make_cpu_machine(1), progress);
    progress.cancel();
    CHECK_THROWS_AS(parts.make(TensorId::scores, {.rows = 70}), Error);
}
