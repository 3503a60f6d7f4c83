#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/engine/fallback_map.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

using namespace headscope;
using namespace headscope::engine;
using Catch::Contains;

namespace {

const Device processor{.id = "cpu", .name = "processor", .detail = "2 threads"};
const Device software{.id = "vulkan:0", .name = "llvmpipe", .detail = "software"};
const Device old_card{
    .id = "vulkan:1", .name = "old card", .detail = "lacks storage", .is_hardware = true, .usable = false};
const Device card{.id = "vulkan:2", .name = "card", .detail = "8 GB", .is_hardware = true};
const Device second_card{.id = "vulkan:3", .name = "card", .detail = "16 GB", .is_hardware = true};

std::string taken_of(const std::vector<Device>& found) {
    return auto_choice({found, {}}).id;
}

/// The name and the features of the processor in /proc/cpuinfo; empty if there is no such file.
struct ProcessorInfo {
    std::string name, flags;
    ProcessorInfo() {
        std::ifstream file("/proc/cpuinfo");
        for (std::string line; std::getline(file, line);) {
            if (name.empty() && line.starts_with("model name"))
                name = line.substr(line.find(": ") + 2);
            if (flags.empty() && line.starts_with("flags"))
                flags = line.substr(line.find(": ") + 1) + " ";
        }
    }
    bool has(const std::vector<std::string>& wanted) const {
        return std::ranges::all_of(wanted, [&](const std::string& flag) {
            return flags.find(" " + flag + " ") != std::string::npos;
        });
    }
};

/// Some 0.03 GFLOP with T 64, and 4 with T 800; `auto` draws its line at 2.
Trace output_of(Engine& engine, std::int64_t T) {
    Numbers numbers(1);
    const Problem problem = generate(
        {.B = 1, .Tq = T, .Tk = T, .D = 512, .Dkv = 512, .H = 8, .Hkv = 8, .dk = 64, .dv = 64}, {}, numbers);
    Progress progress;
    return engine.run(problem, StageSet().with(TensorId::output), progress);
}

} // namespace

TEST_CASE("the CPU is listed first, with its name, its threads and its kernels", "[registry]") {
    const DeviceList found = devices();
    REQUIRE_FALSE(found.devices.empty());
    const Device& cpu = found.devices.front();
    CHECK(cpu.id == "cpu");
    CHECK(cpu.usable);
    CHECK_FALSE(cpu.is_hardware);
    const ProcessorInfo info;
    if (!info.name.empty())
        CHECK(cpu.name == info.name);
    const std::string threads = std::to_string(std::max(1U, std::thread::hardware_concurrency()));
    CHECK_THAT(cpu.detail, Catch::StartsWith(threads + " thread"));
    // Checks the processor again, with the kernel's list of features. HEADSCOPE_KERNELS may restrict the
    // choice.
    if (!info.flags.empty() && std::getenv("HEADSCOPE_KERNELS") == nullptr) {
        const bool avx2 = info.has({"avx2", "fma", "bmi1", "bmi2"});
        const bool avx512 = avx2 && info.has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
        CHECK_THAT(cpu.detail, Catch::EndsWith(avx512 ? ", AVX-512" : avx2 ? ", AVX2" : ", baseline"));
    }
    CHECK(make_engine("cpu")->name() == "cpu");
}

TEST_CASE("Vulkan devices are numbered in their order, or it is said why there is none", "[registry]") {
    const DeviceList found = devices();
    CHECK((found.devices.size() == 1) == !found.no_vulkan_reason.empty());
    for (std::size_t n = 1; n < found.devices.size(); ++n) {
        const Device& device = found.devices[n];
        CHECK(device.id == "vulkan:" + std::to_string(n - 1));
        CHECK(device.name != found.devices.front().name);
        if (device.usable)
            CHECK(make_engine(device.id)->name() == device.id);
        else
            CHECK(error_kind([&] { make_engine(device.id); }) == ErrorKind::machine);
    }
}

TEST_CASE("auto takes the first graphics processor that can be used, else the CPU", "[registry]") {
    CHECK(taken_of({processor}) == "cpu");
    CHECK(taken_of({processor, software}) == "cpu");
    CHECK(taken_of({processor, old_card}) == "cpu");
    CHECK(taken_of({processor, software, old_card}) == "cpu");
    CHECK(taken_of({processor, card}) == "vulkan:2");
    CHECK(taken_of({processor, software, old_card, card, second_card}) == "vulkan:2");
    CHECK(taken_of({processor, second_card, card}) == "vulkan:3");
    CHECK_THAT(auto_choice({{processor}, {}}).reason, Contains("no graphics processor"));
    CHECK_THAT(auto_choice({{processor, software}, {}}).reason, Contains("software"));
    CHECK_THAT(auto_choice({{processor, card}, {}}).reason, Contains("2 GFLOP"));
}

TEST_CASE("auto stays on the CPU with small work, and with all work beside software Vulkan", "[registry]") {
    const DeviceList found = devices();
    const auto card_of_this_machine = std::ranges::find_if(
        found.devices, [](const Device& device) { return device.is_hardware && device.usable; });
    const std::unique_ptr<Engine> engine = make_engine("auto");
    CHECK(output_of(*engine, 64).device == "cpu");
    CHECK(output_of(*engine, 800).device ==
          (card_of_this_machine == found.devices.end() ? "cpu" : card_of_this_machine->id));
    CHECK(output_of(*engine, 64).device == "cpu");
}

namespace {

Problem problem_of_70() {
    Numbers numbers(2);
    return generate({.B = 1, .Tq = 70, .Tk = 70, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4}, {},
                    numbers);
}

/// Fails with this kind of error from the second question on.
class FailingMap : public WeightsMap {
public:
    explicit FailingMap(ErrorKind kind) : kind_(kind) {}
    std::string device() const override { return "card"; }
    std::int64_t rows() const override { return 1; }
    std::int64_t cols() const override { return 1; }
    Tensor pooled(const MapPart&, std::int64_t, Pooling, Progress&) const override {
        if (asked_++ > 0)
            throw Error(kind_, "no more");
        return Tensor(Shape{1, 1}, 0.5F);
    }
    std::vector<MapBand> bands(std::span<const std::int64_t>, std::int64_t, Progress&) const override {
        throw Error(kind_, "none");
    }

private:
    ErrorKind kind_;
    mutable std::atomic<int> asked_ = 0;
};

} // namespace

TEST_CASE("a map is made on the device that is named, or left to the CPU where that may be", "[registry]") {
    const Problem problem = problem_of_70();
    Progress progress;
    const auto weights_on = [&](const std::string& id, MapErrorPolicy failure) {
        const std::unique_ptr<WeightsMap> map = make_map(id, problem, 0, 1, progress, failure);
        CHECK(map->device().starts_with(id == "vulkan" ? "vulkan:" : "cpu"));
        return map->rectangle({0, 0, 70, 70}, progress);
    };
    const Tensor expected = weights_on("cpu", MapErrorPolicy::throw_error);
    CHECK(std::ranges::equal(weights_on("auto", MapErrorPolicy::throw_error).values(), expected.values()));
    CHECK(error_kind([&] { weights_on("vulkan:77", MapErrorPolicy::throw_error); }) == ErrorKind::machine);
    CHECK(std::ranges::equal(weights_on("vulkan:77", MapErrorPolicy::fall_back_to_cpu).values(),
                             expected.values()));
    CHECK_THAT(input_error([&] { make_map("auto", problem, 0, 2, progress); }), Contains("no head 2"));
    if (!devices().no_vulkan_reason.empty())
        return;
    const Tensor vulkan = weights_on("vulkan", MapErrorPolicy::throw_error);
    CHECK(difference(&vulkan, expected) == "");
}

TEST_CASE("the CPU goes on with a map whose device fails, and with no other failure", "[registry]") {
    Progress progress;
    int on_cpu = 0;
    const auto map_of = [&](ErrorKind kind) {
        return FallbackMap(
            "card",
            [&, kind](const std::string& id, Progress&) -> std::unique_ptr<WeightsMap> {
                if (id == "card")
                    return std::make_unique<FailingMap>(kind);
                ++on_cpu;
                return make_map(id, problem_of_70(), 0, 0, progress);
            },
            progress);
    };
    const FallbackMap lost = map_of(ErrorKind::machine);
    CHECK(lost.rectangle({0, 0, 1, 1}, progress).at(0, 0) == 0.5F);
    CHECK(lost.device() == "card");
    CHECK(lost.fallback_reason().empty());
    CHECK(lost.rows() == 1);
    CHECK(lost.rectangle({69, 0, 1, 70}, progress).shape() == Shape{1, 70});
    CHECK(lost.overview(10, Pooling::max, progress).cells == 7);
    CHECK(on_cpu == 1);
    CHECK(lost.device() == "cpu");
    CHECK(lost.fallback_reason() == "no more");
    const FallbackMap stopped = map_of(ErrorKind::cancelled);
    CHECK(error_kind([&] { stopped.overview(1, Pooling::max, progress); }) == ErrorKind::cancelled);
    CHECK(on_cpu == 1);
}

TEST_CASE("a map is read by other threads while the CPU takes it over", "[registry]") {
    for (int round = 0; round < 50; ++round) {
        Progress progress;
        std::atomic<int> on_cpu = 0;
        const FallbackMap map(
            "card",
            [&](const std::string& id, Progress& of) -> std::unique_ptr<WeightsMap> {
                if (id == "card")
                    return std::make_unique<FailingMap>(ErrorKind::machine);
                ++on_cpu;
                return make_map(id, problem_of_70(), 0, 0, of);
            },
            progress);
        CHECK(map.rectangle({0, 0, 1, 1}, progress).at(0, 0) == 0.5F);
        std::atomic<bool> done = false;
        std::atomic<int> wrong = 0;
        std::thread window([&] {
            while (!done) {
                const std::int64_t rows = map.rows();
                if ((rows != 1 && rows != 70) || (map.device() == "cpu") < (rows == 70))
                    ++wrong;
                if (map.device() == "cpu" && map.fallback_reason() != "no more")
                    ++wrong;
            }
        });
        const auto ask = [&] {
            Progress own;
            if (map.rectangle({69, 0, 1, 70}, own).shape() != Shape{1, 70})
                ++wrong;
        };
        std::thread first(ask), second(ask);
        first.join();
        second.join();
        done = true;
        window.join();
        CHECK(wrong == 0);
        CHECK(on_cpu == 1);
    }
}

TEST_CASE("a map is asked by one thread at a time", "[registry]") {
    struct Asked {
        std::atomic<int> now = 0, most = 0;
    } asked;
    class SlowMap : public FailingMap {
    public:
        explicit SlowMap(Asked& asked) : FailingMap(ErrorKind::machine), asked_(asked) {}
        Tensor pooled(const MapPart&, std::int64_t, Pooling, Progress&) const override {
            asked_.most = std::max(asked_.most.load(), ++asked_.now);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            --asked_.now;
            return Tensor(Shape{1, 1}, 0.5F);
        }

    private:
        Asked& asked_;
    };
    Progress progress;
    const FallbackMap map(
        "card", [&](const std::string&, Progress&) { return std::make_unique<SlowMap>(asked); }, progress);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
            Progress own;
            map.rectangle({0, 0, 1, 1}, own);
        });
    CHECK(map.rows() == 1); // does not wait
    for (std::thread& thread : threads)
        thread.join();
    CHECK(asked.most == 1);
}

TEST_CASE("an unknown device is refused with what there is", "[registry]") {
    for (const char* id : {"abacus", "vulkan:77", "vulkan:x", "", "CPU"}) {
        INFO(id);
        CHECK(error_kind([&] { make_engine(id); }) == ErrorKind::machine);
    }
    CHECK_THROWS_WITH(make_engine("abacus"), Contains("abacus") && Contains("cpu"));
    if (devices().no_vulkan_reason.empty())
        CHECK_THROWS_WITH(make_engine("vulkan:77"), Contains("vulkan:77") && Contains("vulkan:0"));
}
