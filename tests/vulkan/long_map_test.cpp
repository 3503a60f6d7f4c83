#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/long_map.h"
#include "core/engine/vulkan/long_map.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"
#include "tests/vulkan/support.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <thread>

using namespace headscope;

namespace {

constexpr Dims grouped{.B = 2, .Tq = 203, .Tk = 331, .D = 20, .Dkv = 12, .H = 4, .Hkv = 2, .dk = 5, .dv = 3};

Dims self_attention(std::int64_t T, std::int64_t dk) {
    return {.B = 1, .Tq = T, .Tk = T, .D = 4 * dk, .Dkv = 4 * dk, .H = 4, .Hkv = 2, .dk = dk, .dv = dk};
}

/// The same map from both engines.
struct Maps {
    Progress progress;
    cpu::CpuEngine engine{1};
    cpu::LongMap cpu;
    vulkan::LongMap vulkan;

    Maps(const Problem& problem, std::int64_t b, std::int64_t h, std::shared_ptr<vulkan::MapDevice> device)
        : cpu(problem, b, h, engine, cpu::make_cpu_machine(1), progress),
          vulkan(problem, b, h, engine, std::move(device), progress) {}

    void check_part(const MapPart& part, std::int64_t cells) {
        INFO(part.row << " " << part.col << " " << part.rows << " " << part.cols << " by " << cells);
        for (const Pooling pooling : {Pooling::max, Pooling::mean}) {
            const Tensor expected = cpu.pooled(part, cells, pooling, progress);
            const Tensor got = vulkan.pooled(part, cells, pooling, progress);
            CHECK(difference(&got, expected) == "");
        }
    }
    void check_overview(std::int64_t cells) {
        INFO("by " << cells);
        std::vector<std::int64_t> which(static_cast<std::size_t>((cpu.rows() + cells - 1) / cells));
        std::iota(which.begin(), which.end(), 0);
        // In another order, and with gaps, they are the same.
        std::rotate(which.begin(), which.begin() + std::ssize(which) / 3, which.end());
        const std::vector<MapBand> expected = cpu.bands(which, cells, progress);
        const std::vector<MapBand> got = vulkan.bands(which, cells, progress);
        REQUIRE(got.size() == expected.size());
        for (std::size_t n = 0; n < got.size(); ++n) {
            const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
                const Tensor one(Shape{std::ssize(a)}, std::vector<float>(a));
                const Tensor other(Shape{std::ssize(b)}, std::vector<float>(b));
                return difference(&one, other);
            };
            CHECK(same(got[n].largest, expected[n].largest) == "");
            CHECK(same(got[n].mean, expected[n].mean) == "");
        }
    }
};

/// Compares the last head of the last batch entry with the CPU's map and the weights of a whole run.
void check_map(const Problem& problem, const std::shared_ptr<vulkan::MapDevice>& device) {
    const std::int64_t b = problem.dims.B - 1, h = problem.dims.H - 1;
    const std::int64_t Tq = problem.dims.Tq, Tk = problem.dims.Tk;
    Maps maps(problem, b, h, device);
    maps.check_part({Tq - 61, 33, 59, Tk - 40}, 7); // before all softmaxes are known
    maps.check_part({0, 0, Tq, Tk}, 1);
    const Trace trace = maps.engine.run(problem);
    const Tensor& kept = *trace.stage(TensorId::weights);
    Tensor expected(Shape{Tq, Tk});
    std::copy_n(kept.data() + kept.offset(b, h, 0, 0), Tq * Tk, expected.data());
    const Tensor got = maps.vulkan.rectangle({0, 0, Tq, Tk}, maps.progress);
    CHECK(difference(&got, expected) == "");
    maps.check_part({7, Tk - 1, 1, 1}, 1);
    maps.check_part({5, 3, Tq - 6, Tk - 9}, 13);
    for (const std::int64_t cells : {std::int64_t{1}, std::int64_t{5}, std::int64_t{64}, Tk - 1, Tk + 9})
        Maps(problem, b, h, device).check_overview(cells);
}

} // namespace

TEST_CASE("a map of the Vulkan engine is that of the CPU, whatever the mask") {
    Validated validated;
    const auto device = vulkan::map_device(0, validated.options);
    Numbers numbers(31);
    Problem problem = generate(grouped, {.biases = true, .temperature = 0.3F}, numbers, true);
    check_map(problem, device);
    for (int kind = 0; kind < rule_kinds; ++kind) {
        INFO(kind);
        problem.mask = {generate_rule(kind, grouped, numbers)};
        check_map(problem, device);
        problem.mask.push_back(generate_rule((kind * 5 + 1) % rule_kinds, grouped, numbers));
        check_map(problem, device);
    }
    check_none(validated.messages);
    CHECK(Maps(problem, 0, 0, device).vulkan.device() == "vulkan:0");
}

TEST_CASE("a map of the Vulkan engine knows sinks, norms, rotation and a soft cap") {
    Validated validated;
    const auto device = vulkan::map_device(0, validated.options);
    Numbers numbers(32);
    Problem problem = generate(self_attention(397, 8), {.joint_norm = true, .sink = true}, numbers);
    problem.mask = {SlidingWindowCausalMask{100}};
    check_map(problem, device);
    problem.score_cap = 0.5F;
    problem.mask = {CausalMask{}};
    problem.rotary = Rotary{numbers.tensor({1, 397, 8}, 1), numbers.tensor({1, 397, 8}, 1)};
    check_map(problem, device);
    problem = generate(self_attention(313, 6), {.qkv_limit = 0.7F}, numbers);
    problem.weights.q_norm = numbers.tensor({6}, 1);
    problem.weights.k_norm = numbers.tensor({6}, 1);
    problem.mask = {CausalMask{}};
    check_map(problem, device);
    check_none(validated.messages);
}

TEST_CASE("a map as a graphics card makes it, and one in small parts, is the same") {
    Validated validated;
    Numbers numbers(33);
    Problem problem = generate(self_attention(597, 8), {.sink = true}, numbers);
    problem.mask = {CausalMask{}, generate_rule(3, problem.dims, numbers)};
    for (const bool small : {false, true}) {
        vulkan::VulkanOptions options = validated.options;
        options.shared_tiles = options.staging = !small;
        options.binding_bytes = small ? 32 << 10 : 0;
        check_map(problem, vulkan::map_device(0, options));
    }
    check_none(validated.messages);
}

TEST_CASE("scores that grow or fall by hundreds leave no weight of a Vulkan map too small or too large") {
    const auto device = vulkan::map_device(0);
    Numbers numbers(34);
    Problem problem = generate(self_attention(340, 4), {}, numbers);
    for (const float slope : {1.5F, -1.5F}) {
        auto add = std::make_shared<Tensor>(Shape{340});
        for (std::int64_t j = 0; j < 340; ++j)
            add->at(j) = slope * static_cast<float>(j);
        problem.mask = {AdditiveMask{add}};
        check_map(problem, device);
        problem.mask = {SlidingWindowCausalMask{50},
                        AdditiveMask{std::make_shared<Tensor>(Shape{1}, -500.0F)}};
        check_map(problem, device);
    }
}

TEST_CASE("a row that may attend to nothing is 0 in a Vulkan map") {
    Numbers numbers(35);
    Problem problem = generate(self_attention(90, 4), {.sink = true}, numbers);
    const auto all_zero = [](std::span<const float> numbers_of) {
        return std::ranges::all_of(numbers_of, [](float weight) { return weight == 0; });
    };
    const auto nothing =
        std::make_shared<const BoolTensor>(BoolTensor{{1, 90}, std::vector<std::uint8_t>(90, 0)});
    for (const Mask& mask : {Mask{KeyPaddingMask{nothing}}, Mask{CausalMask{}, KeyPaddingMask{nothing}}}) {
        problem.mask = mask;
        Maps maps(problem, 0, 1, vulkan::map_device(0));
        CHECK(all_zero(maps.vulkan.rectangle({0, 0, 90, 90}, maps.progress).values()));
        CHECK(all_zero(maps.vulkan.pooled({1, 2, 80, 70}, 9, Pooling::max, maps.progress).values()));
        CHECK(all_zero(maps.vulkan.overview(30, Pooling::mean, maps.progress).pixels.values()));
    }
}

TEST_CASE("a Vulkan map says what is at fault as the CPU's does, and can be cancelled and asked again") {
    const auto device = vulkan::map_device(0);
    Numbers numbers(36);
    Problem problem = generate(self_attention(200, 4), {}, numbers);
    const auto both_say = [&](const auto& ask) {
        Maps maps(problem, 0, 0, device);
        const std::string expected = input_error([&] { ask(maps.cpu, maps.progress); });
        CHECK_FALSE(expected.empty());
        for (int n = 0; n < 2; ++n)
            CHECK(input_error([&] { ask(maps.vulkan, maps.progress); }) == expected);
    };
    both_say([](const WeightsMap& map, Progress& progress) { map.rectangle({190, 0, 11, 5}, progress); });
    both_say([](const WeightsMap& map, Progress& progress) { map.overview(0, Pooling::max, progress); });
    const auto overview = [](const WeightsMap& map, Progress& progress) {
        map.overview(10, Pooling::max, progress);
    };
    const auto all_weights = [](const WeightsMap& map, Progress& progress) {
        map.rectangle({0, 0, 200, 200}, progress);
    };
    Problem good = problem;
    problem.temperature = 1e-37F; // scores of 1e36 and more, to which the mask adds nearly the largest number
    problem.mask = {AdditiveMask{std::make_shared<Tensor>(Shape{1}, 3.402823e38F)}};
    both_say(overview);
    problem = good;
    problem.temperature = 1e-38F;
    both_say(overview);
    both_say(all_weights);
    problem = good;
    Progress progress;
    cpu::CpuEngine engine(1);
    CHECK_THAT(input_error([&] { vulkan::LongMap(problem, 0, 4, engine, device, progress); }),
               Catch::Contains("no head 4"));
    Maps maps(problem, 0, 0, device);
    Progress stopped;
    stopped.cancel();
    CHECK(error_kind([&] { overview(maps.vulkan, stopped); }) == ErrorKind::cancelled);
    CHECK(error_kind([&] { all_weights(maps.vulkan, stopped); }) == ErrorKind::cancelled);
    maps.check_overview(20);
}

/// Cancels a pass over a map of this length as soon as it reports progress. False if it ended before that.
bool stops_where_cancelled(std::int64_t length) {
    Numbers numbers(37);
    const Problem problem = generate(self_attention(length, 64), {}, numbers);
    Maps maps(problem, 0, 0, vulkan::map_device(0));
    Progress progress;
    std::atomic<bool> ended = false;
    std::thread watcher([&] {
        while (progress.fraction() == 0.0F && !ended)
            std::this_thread::yield();
        progress.cancel();
    });
    const auto kind = error_kind([&] { maps.vulkan.overview(100, Pooling::max, progress); });
    ended = true;
    watcher.join();
    if (!kind && progress.fraction() == 0.0F)
        return false;
    CHECK(kind == ErrorKind::cancelled);
    CHECK(progress.fraction() < 1);
    maps.check_part({2900, 100, 50, 60}, 1);
    return true;
}

TEST_CASE("a pass over a long map stops where it is cancelled") {
    // A graphics processor computes the shorter map in one piece.
    CHECK((stops_where_cancelled(6'000) || stops_where_cancelled(80'000)));
}

TEST_CASE("two Vulkan maps on worker threads and a run of the engine do not disturb each other") {
    Numbers numbers(38);
    Problem problem = generate(self_attention(300, 8), {}, numbers);
    problem.mask = {CausalMask{}};
    engine::BackendEngine engine = vulkan_engine();
    const Trace expected = engine.run(problem);
    std::vector<std::thread> workers;
    std::array<Tensor, 2> made{Tensor(Shape{0}), Tensor(Shape{0})};
    for (std::size_t n = 0; n < made.size(); ++n)
        workers.emplace_back([&, n] {
            Progress progress;
            cpu::CpuEngine projections(1);
            for (int again = 0; again < 5; ++again) {
                const vulkan::LongMap map(problem, 0, static_cast<std::int64_t>(n), projections,
                                          vulkan::map_device(0), progress);
                map.overview(20, Pooling::max, progress);
                made[n] = map.rectangle({0, 0, 300, 300}, progress);
            }
        });
    for (int again = 0; again < 5; ++again)
        CHECK(difference(engine.run(problem), expected) == "");
    for (std::thread& worker : workers)
        worker.join();
    const Tensor& kept = *expected.stage(TensorId::weights);
    for (std::size_t n = 0; n < made.size(); ++n) {
        Tensor head(Shape{300, 300});
        std::copy_n(kept.data() + kept.offset(0, static_cast<std::int64_t>(n), 0, 0), head.count(),
                    head.data());
        CHECK(difference(&made[n], head) == "");
    }
}

TEST_CASE("a Vulkan map whose device fails says so in one sentence, and the next gets a device of its own") {
    bool made = false; // making it takes a number of submits that depends on the device
    vulkan::VulkanOptions options;
    options.fault = [&](vulkan::VulkanStep step) {
        return made && step == vulkan::VulkanStep::submit ? -4 : 0; // VK_ERROR_DEVICE_LOST
    };
    Numbers numbers(39);
    Maps maps(generate(self_attention(50, 4), {}, numbers), 0, 0, vulkan::map_device(0, options));
    made = true;
    std::string said;
    try {
        for (int n = 0; n < 3; ++n)
            maps.vulkan.overview(20, Pooling::max, maps.progress);
    } catch (const Error& fault) {
        CHECK(fault.kind() == ErrorKind::machine);
        said = fault.what();
    }
    CHECK_THAT(said, Catch::Contains("device lost"));
}
