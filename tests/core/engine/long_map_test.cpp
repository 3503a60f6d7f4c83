#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/long_map.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace headscope;

namespace {

constexpr Dims grouped{.B = 2, .Tq = 203, .Tk = 331, .D = 20, .Dkv = 12, .H = 4, .Hkv = 2, .dk = 5, .dv = 3};

Dims self_attention(std::int64_t T, std::int64_t dk) {
    return {.B = 1, .Tq = T, .Tk = T, .D = 4 * dk, .Dkv = 4 * dk, .H = 4, .Hkv = 2, .dk = dk, .dv = dk};
}

struct Map {
    Progress progress;
    cpu::CpuEngine engine;
    cpu::LongMap map;
    Map(const Problem& problem, std::int64_t b, std::int64_t h, int threads = 2)
        : engine(1), map(problem, b, h, engine, cpu::make_cpu_machine(threads), progress) {}

    Tensor rectangle(const MapPart& part) { return map.rectangle(part, progress); }
    Overview overview(std::int64_t most, Pooling pooling) { return map.overview(most, pooling, progress); }
};

/// The largest difference of a rectangle from the weights that a run keeps.
float difference(const Tensor& part, const Tensor& kept, std::int64_t b, std::int64_t h, std::int64_t row,
                 std::int64_t col) {
    float largest = 0;
    for (std::int64_t r = 0; r < part.shape()[0]; ++r)
        for (std::int64_t c = 0; c < part.shape()[1]; ++c)
            largest = std::max(largest, std::abs(part.at(r, c) - kept.at(b, h, row + r, col + c)));
    return largest;
}

/// Pools the weights that a run keeps, pixel by pixel, in double.
float pooled(const Tensor& kept, std::int64_t b, std::int64_t h, std::int64_t cells, std::int64_t row,
             std::int64_t col, Pooling pooling) {
    double largest = 0, sum = 0;
    int count = 0;
    for (std::int64_t i = row * cells; i < std::min((row + 1) * cells, kept.shape()[2]); ++i)
        for (std::int64_t j = col * cells; j < std::min((col + 1) * cells, kept.shape()[3]); ++j) {
            const auto weight = static_cast<double>(kept.at(b, h, i, j));
            largest = std::max(largest, weight);
            sum += weight;
            ++count;
        }
    return static_cast<float>(pooling == Pooling::max ? largest : sum / count);
}

float difference(const Overview& overview, const Tensor& kept, std::int64_t b, std::int64_t h,
                 Pooling pooling) {
    float largest = 0;
    for (std::int64_t r = 0; r < overview.pixels.shape()[0]; ++r)
        for (std::int64_t c = 0; c < overview.pixels.shape()[1]; ++c)
            largest = std::max(largest, std::abs(overview.pixels.at(r, c) -
                                                 pooled(kept, b, h, overview.cells, r, c, pooling)));
    return largest;
}

/// Rectangles and overviews of the last head of the last batch entry against the engine's own weights.
void check(const Problem& problem) {
    constexpr float tolerance = 1e-6F;
    const Trace trace = cpu::CpuEngine(1).run(problem);
    const Tensor& kept = *trace.stage(TensorId::weights);
    const std::int64_t b = problem.dims.B - 1, h = problem.dims.H - 1;
    const std::int64_t Tq = problem.dims.Tq, Tk = problem.dims.Tk;
    Map map(problem, b, h);
    CHECK(difference(map.rectangle({0, 0, Tq, Tk}), kept, b, h, 0, 0) < tolerance);
    CHECK(difference(map.rectangle({Tq - 61, 33, 59, Tk - 40}), kept, b, h, Tq - 61, 33) < tolerance);
    CHECK(difference(map.rectangle({7, Tk - 1, 1, 1}), kept, b, h, 7, Tk - 1) < tolerance);
    for (const std::int64_t most : {std::int64_t{1}, std::int64_t{7}, std::int64_t{64}, Tk - 1, Tk + 9})
        for (const Pooling pooling : {Pooling::max, Pooling::mean}) {
            INFO(most);
            const Overview overview = map.overview(most, pooling);
            CHECK(overview.cells == (std::max(Tq, Tk) + most - 1) / most);
            CHECK(overview.pixels.shape() == Shape{(Tq + overview.cells - 1) / overview.cells,
                                                   (Tk + overview.cells - 1) / overview.cells});
            CHECK(difference(overview, kept, b, h, pooling) < tolerance);
        }
}

} // namespace

TEST_CASE("rectangles and overviews are those of the whole weights, whatever the mask") {
    Numbers numbers(31);
    Problem problem = generate(grouped, {.biases = true, .temperature = 0.3F}, numbers, true);
    check(problem);
    for (int kind = 0; kind < cpu_rule_kinds; ++kind) {
        INFO(kind);
        problem.mask = {generate_rule(kind, grouped, numbers)};
        check(problem);
        problem.mask.push_back(generate_rule((kind * 5 + 1) % rule_kinds, grouped, numbers));
        check(problem);
    }
}

TEST_CASE(
    "rectangles and overviews are those of the whole weights with sinks, norms, rotation and a soft cap") {
    Numbers numbers(32);
    Problem problem = generate(self_attention(697, 8), {.joint_norm = true, .sink = true}, numbers);
    problem.mask = {SlidingWindowCausalMask{100}};
    check(problem);
    problem.score_cap = 0.5F;
    problem.mask = {CausalMask{}};
    problem.rotary = Rotary{numbers.tensor({1, 697, 8}, 1), numbers.tensor({1, 697, 8}, 1)};
    check(problem);
    problem = generate(self_attention(513, 6), {.query_scale = true}, numbers);
    problem.mask = {ChunkedCausalMask{100}};
    check(problem);
    problem = generate(self_attention(513, 6), {.qkv_limit = 0.7F}, numbers);
    problem.rotary = Rotary{numbers.tensor({1, 513, 6}, 1), numbers.tensor({1, 513, 6}, 1)};
    check(problem);
}

TEST_CASE("scores that grow or fall from key to key by hundreds leave no weight too small or too large") {
    Numbers numbers(33);
    Problem problem = generate(self_attention(640, 4), {}, numbers);
    for (const float slope : {1.5F, -1.5F}) {
        auto add = std::make_shared<Tensor>(Shape{640});
        for (std::int64_t j = 0; j < 640; ++j)
            add->at(j) = slope * static_cast<float>(j);
        problem.mask = {AdditiveMask{add}};
        check(problem);
        // All scores far below 0, and keys that are not read.
        problem.mask = {SlidingWindowCausalMask{50},
                        AdditiveMask{std::make_shared<Tensor>(Shape{1}, -500.0F)}};
        check(problem);
    }
}

TEST_CASE("the tiles of every head join to its weights, wherever they begin") {
    constexpr Dims dims{.B = 2, .Tq = 60, .Tk = 84, .D = 20, .Dkv = 12, .H = 4, .Hkv = 2, .dk = 5, .dv = 3};
    Numbers numbers(21);
    Problem problem = generate(dims, {.biases = true, .temperature = 0.7F}, numbers, true);
    problem.mask = {generate_rule(1, dims, numbers)};
    const Trace trace = cpu::CpuEngine(1).run(problem);
    for (std::int64_t b = 0; b < dims.B; ++b)
        for (std::int64_t h = 0; h < dims.H; ++h) {
            Map map(problem, b, h);
            float largest = 0;
            const auto compare = [&](std::int64_t rows, std::int64_t cols) {
                for (std::int64_t row = 0; row < dims.Tq; row += rows)
                    for (std::int64_t col = 0; col < dims.Tk; col += cols)
                        largest =
                            std::max(largest, difference(map.rectangle({row, col, rows, cols}),
                                                         *trace.stage(TensorId::weights), b, h, row, col));
            };
            compare(20, 21);
            compare(12, 7);
            compare(1, 1);
            CHECK(largest < 1e-6F);
        }
}

TEST_CASE("a row that may attend to nothing is 0 in rectangles and overviews") {
    Numbers numbers(34);
    Problem problem = generate(self_attention(200, 4), {.sink = true}, numbers);
    problem.mask = {KeyPaddingMask{
        std::make_shared<const BoolTensor>(BoolTensor{{1, 200}, std::vector<std::uint8_t>(200, 0)})}};
    Map map(problem, 0, 1);
    const auto all_zero = [](const Tensor& tensor) {
        return std::ranges::all_of(tensor.values(), [](float weight) { return weight == 0; });
    };
    CHECK(all_zero(map.rectangle({0, 0, 200, 200})));
    CHECK(all_zero(map.overview(30, Pooling::max).pixels));
    CHECK(all_zero(map.overview(30, Pooling::mean).pixels));
}

TEST_CASE("maps have the same bits with any number of threads") {
    Numbers numbers(35);
    Problem problem = generate(self_attention(700, 8), {}, numbers);
    problem.mask = {CausalMask{}};
    Map one(problem, 0, 0, 1), three(problem, 0, 0, 3);
    CHECK(std::ranges::equal(one.rectangle({100, 0, 600, 700}).values(),
                             three.rectangle({100, 0, 600, 700}).values()));
    for (const Pooling pooling : {Pooling::max, Pooling::mean})
        CHECK(std::ranges::equal(one.overview(100, pooling).pixels.values(),
                                 three.overview(100, pooling).pixels.values()));
}

TEST_CASE("a map says which head, entry, part or score is at fault, and can be cancelled") {
    Numbers numbers(36);
    Problem problem = generate(self_attention(200, 4), {}, numbers);
    CHECK(input_error([&] { Map(problem, 0, 4); }) == "there is no head 4; heads are numbered 0 to 3");
    CHECK(input_error([&] { Map(problem, 1, 0); }) == "there is no batch entry 1; they are numbered 0 to 0");
    Map map(problem, 0, 0);
    CHECK(input_error([&] {
              map.rectangle({190, 0, 11, 5});
          }) ==
          "rows 190 to 201 and columns 0 to 5 are not all in the map, (Tq, Tk) = (200, 200); choose others");
    CHECK_THAT(input_error([&] { map.overview(0, Pooling::max); }), Catch::Contains("at least 1 pixel"));
    CHECK(map.overview(std::numeric_limits<std::int64_t>::max(), Pooling::max).cells == 1);
    map.progress.cancel();
    CHECK_THROWS_AS(map.overview(10, Pooling::max), Error);
    CHECK_THROWS_AS(map.rectangle({0, 0, 200, 200}), Error);
    problem.temperature = 1e-38F;
    CHECK_THAT(input_error([&] { Map(problem, 0, 0).overview(10, Pooling::max); }),
               Catch::Contains("score of key") && Catch::Contains("raise the temperature"));
}
