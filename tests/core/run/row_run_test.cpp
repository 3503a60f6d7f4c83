#include "core/attention/graph_of_problem.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/engine/cpu/key_value_cache.h"
#include "core/run/row_run.h"
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

/// The run of a problem's tokens, some at a time.
class Tokens {
public:
    explicit Tokens(const Problem& problem)
        : problem_(problem), graph_(graph_of(problem)),
          run_(graph_.graph, {{"weights"}, {"output"}, {"k_heads"}},
               run::Leaves::of(graph_.graph, graph_.leaves), {}, {"x"}, backend_) {}

    std::map<std::string, TensorPtr> extend(std::int64_t end) {
        const std::vector<std::string> wanted{"weights", "output", "k_heads"};
        Progress progress;
        return run_.compute(end, {{"x", rows_of(x_ == nullptr ? problem_.x : x_, run_.rows(), end)}}, wanted,
                            progress);
    }
    /// The last number of the output.
    float last(std::int64_t end) { return *extend(end).at("output")->values().rbegin(); }

    run::RowRun& run() { return run_; }
    const cpu::KeyValueCache& cache() const { return *cpu::cache_of(run_.state("scores")); }
    void read(TensorPtr x) { x_ = std::move(x); }

private:
    Problem problem_;
    ProblemGraph graph_;
    cpu::CpuBackend backend_{cpu::make_cpu_machine(2)};
    run::RowRun run_;
    TensorPtr x_; ///< in place of the problem's
};

/// Returns the number of weights and outputs of the parts that differ from those of the whole in any bit.
int strangers(const Problem& whole, const std::vector<std::int64_t>& ends) {
    using enum TensorId;
    const Trace all = cpu::CpuEngine(1).run(whole);
    Tokens tokens(whole);
    int count = 0;
    std::int64_t first = 0;
    for (const std::int64_t end : ends) {
        const auto rows = tokens.extend(end);
        const Tensor &part_output = *rows.at("output"), &part_weights = *rows.at("weights");
        Dims d = whole.dims;
        d.Tq = end - first;
        d.Tk = end;
        CHECK(tokens.cache().rows() == end);
        CHECK(rows.at("k_heads")->shape() == Shape{d.B, d.Hkv, d.Tq, d.dk});
        for (std::int64_t b = 0; b < d.B; ++b)
            for (std::int64_t i = 0; i < d.Tq; ++i) {
                for (std::int64_t c = 0; c < d.D; ++c)
                    count += part_output.at(b, i, c) == all.stage(output)->at(b, first + i, c) ? 0 : 1;
                for (std::int64_t h = 0; h < d.H; ++h)
                    for (std::int64_t j = 0; j < d.Tk; ++j)
                        count +=
                            part_weights.at(b, h, i, j) == all.stage(weights)->at(b, h, first + i, j) ? 0 : 1;
            }
        first = end;
    }
    std::vector<float> key(static_cast<std::size_t>(whole.dims.dk)),
        value(static_cast<std::size_t>(whole.dims.dv));
    for (std::int64_t b = 0; b < whole.dims.B; ++b)
        for (std::int64_t g = 0; g < whole.dims.Hkv; ++g)
            for (std::int64_t j = 0; j < whole.dims.Tk; ++j) {
                tokens.cache().read(b, g, j, key, value);
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
    Tokens tokens(problem);
    tokens.extend(40);
    run::RowRun copy = tokens.run();
    const float next = tokens.last(41);
    tokens.run().truncate(35);
    CHECK(tokens.run().rows() == 35);
    CHECK(tokens.cache().rows() == 35);
    CHECK(tokens.last(41) == next);
    Tokens other(problem);
    other.run() = std::move(copy);
    CHECK(other.run().rows() == 40);
    CHECK(other.last(41) == next);
    tokens.read(std::make_shared<Tensor>(problem.x->shape(), 1e38F));
    CHECK(error_kind([&] { tokens.extend(42); }) == ErrorKind::input);
    CHECK(tokens.run().rows() == 41);
    CHECK(tokens.cache().rows() == 41);
    tokens.read(nullptr);
    CHECK(tokens.last(42) == other.last(42));
}
