#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/key_value_cache.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <algorithm>

using namespace headscope;
using namespace headscope::engine;

namespace {

/// Rows [first, end) of axis 1 of (B, T, width).
TensorPtr rows_of(const TensorPtr& tensor, std::int64_t first, std::int64_t end) {
    const Shape& shape = tensor->shape();
    auto out = std::make_shared<Tensor>(Shape{shape[0], end - first, shape[2]});
    for (std::int64_t b = 0; b < shape[0]; ++b)
        std::copy_n(tensor->data() + tensor->offset(b, first, 0), (end - first) * shape[2],
                    out->data() + out->offset(b, 0, 0));
    return out;
}

/// The tokens [first, end) of a self-attention problem whose keys may be those before `end`.
Problem part_of(const Problem& whole, std::int64_t first, std::int64_t end) {
    Problem part = whole;
    part.dims.Tq = end - first;
    part.dims.Tk = end;
    part.x = rows_of(whole.x, first, end);
    part.tokens.clear();
    if (whole.rotary)
        part.rotary = Rotary{rows_of(whole.rotary->cos, first, end), rows_of(whole.rotary->sin, first, end)};
    return part;
}

/// Returns the number of weights and outputs of the parts that differ from those of the whole in any bit.
int strangers(const Problem& whole, const std::vector<std::int64_t>& ends) {
    using enum TensorId;
    const Trace all = cpu::CpuEngine(1).run(whole);
    cpu::CpuEngine engine(2);
    cpu::KeyValueCache cache;
    Progress progress;
    int count = 0;
    std::int64_t first = 0;
    for (const std::int64_t end : ends) {
        const Problem part = part_of(whole, first, end);
        const Trace trace =
            engine.extend(part, cache, StageSet().with(weights).with(output).with(k_heads), progress);
        const Dims& d = part.dims;
        CHECK(cache.rows() == end);
        CHECK(trace.stage(k_heads)->shape() == Shape{d.B, d.Hkv, d.Tq, d.dk});
        for (std::int64_t b = 0; b < d.B; ++b)
            for (std::int64_t i = 0; i < d.Tq; ++i) {
                for (std::int64_t c = 0; c < d.D; ++c)
                    count +=
                        trace.stage(output)->at(b, i, c) == all.stage(output)->at(b, first + i, c) ? 0 : 1;
                for (std::int64_t h = 0; h < d.H; ++h)
                    for (std::int64_t j = 0; j < d.Tk; ++j)
                        count +=
                            trace.stage(weights)->at(b, h, i, j) == all.stage(weights)->at(b, h, first + i, j)
                                ? 0
                                : 1;
            }
        first = end;
    }
    std::vector<float> key(static_cast<std::size_t>(whole.dims.dk)),
        value(static_cast<std::size_t>(whole.dims.dv));
    for (std::int64_t b = 0; b < whole.dims.B; ++b)
        for (std::int64_t g = 0; g < whole.dims.Hkv; ++g)
            for (std::int64_t j = 0; j < whole.dims.Tk; ++j) {
                cache.read(b, g, j, key, value);
                count += std::equal(key.begin(), key.end(),
                                    all.stage(k_heads)->data() + all.stage(k_heads)->offset(b, g, j, 0))
                             ? 0
                             : 1;
                count += std::equal(value.begin(), value.end(),
                                    all.stage(v_heads)->data() + all.stage(v_heads)->offset(b, g, j, 0))
                             ? 0
                             : 1;
            }
    return count;
}

constexpr Dims text_dims{.B = 2, .Tq = 90, .Tk = 90, .D = 24, .Dkv = 24, .H = 4, .Hkv = 2, .dk = 6, .dv = 37};

} // namespace

TEST_CASE("tokens that extend a cache have the numbers of one run over all of them, bit for bit") {
    Numbers numbers(5);
    Problem problem = generate(text_dims, {.biases = true, .gains = true, .temperature = 0.8F}, numbers);
    REQUIRE(!problem.cross());
    const std::vector<std::int64_t> ends{7, 8, 9, 31, 32, 33, 70, 71, 90};
    problem.mask = {CausalMask{}};
    CHECK(strangers(problem, ends) == 0);
    problem.mask = {SlidingWindowCausalMask{5}};
    CHECK(strangers(problem, ends) == 0);
    problem.rotary = Rotary{numbers.tensor({1, 90, 6}, 1), numbers.tensor({1, 90, 6}, 1)};
    CHECK(strangers(problem, ends) == 0);
    CHECK(strangers(problem, {90}) == 0);
}

TEST_CASE("a cache forgets tokens, is copied, and stays as it was where a run fails") {
    Numbers numbers(6);
    Problem problem = generate(text_dims, {.biases = true}, numbers);
    problem.mask = {CausalMask{}};
    cpu::CpuEngine engine(2);
    Progress progress;
    const StageSet output = StageSet().with(TensorId::output);
    const auto extend = [&](cpu::KeyValueCache& cache, std::int64_t end) {
        return *engine.extend(part_of(problem, cache.rows(), end), cache, output, progress)
                    .stage(TensorId::output)
                    ->values()
                    .rbegin();
    };
    cpu::KeyValueCache cache;
    extend(cache, 40);
    cpu::KeyValueCache copy = cache;
    const float next = extend(cache, 41);
    cache.truncate(35);
    CHECK(cache.rows() == 35);
    CHECK(extend(cache, 41) == next);
    CHECK(extend(copy, 41) == next);
    Problem broken = part_of(problem, 41, 42);
    broken.weights.W_V = std::make_shared<Tensor>(broken.weights.W_V->shape(), 1e38F);
    broken.x = std::make_shared<Tensor>(broken.x->shape(), 1e5F);
    CHECK(error_kind([&] { engine.extend(broken, cache, output, progress); }) == ErrorKind::input);
    CHECK(cache.rows() == 41);
    CHECK(extend(cache, 42) == extend(copy, 42));
}
