#include "core/engine/engine.h"
#include "app/draw/kit/format.h"
#include "core/analysis/map/map_overview.h"
#include "core/attention/cost.h"
#include "core/base/error.h"
#include "core/engine/weights_map.h"
#include "tests/bench/clock.h"
#include "tests/bench/machine.h"
#include "tests/bench/rows.h"

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::bench {

namespace {

struct LayerSize {
    std::int64_t B, T, D, H;
    std::string text() const {
        return "(" + std::to_string(B) + "," + std::to_string(T) + "," + std::to_string(D) + "," +
               std::to_string(H) + ")";
    }
};
constexpr LayerSize sizes[] = {{1, 4, 8, 2},      {1, 10, 512, 8},    {1, 128, 768, 12},
                               {1, 512, 768, 12}, {1, 1024, 768, 12}, {1, 2048, 1024, 16}};
constexpr double megabyte = 1024.0 * 1024.0;

/// Returns the bytes of the inputs, the parameters W and the attention weights, each counted once.
double least_bytes(const Dims& d) {
    const std::int64_t numbers = 2 * d.B * d.Tq * d.D + 4 * d.D * d.D + d.B * d.H * d.Tq * d.Tk;
    return static_cast<double>(numbers) * sizeof(float);
}

StageSet weights_and_output() {
    return StageSet{}.with(TensorId::weights).with(TensorId::output);
}

double seconds_of_one(engine::Engine& engine, const Problem& problem, StageSet wanted) {
    Progress progress;
    const auto start = std::chrono::steady_clock::now();
    engine.run(problem, wanted, progress);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

BenchRow engine_row(const LayerSize& size, const std::string& device, engine::Engine& engine,
                    const MachineLimit& limit) {
    const Problem problem = bench_problem(size.B, size.T, size.D, size.H);
    const Dims& d = problem.dims;
    const double flops = static_cast<double>(cost_of(d, false).flops()), bytes = least_bytes(d);
    const std::int64_t before = resident_memory();
    reset_peak_memory();
    seconds_of_one(engine, problem, weights_and_output());
    const double kept = static_cast<double>(d.B * d.Tq * (d.D + d.H * d.Tk)) * sizeof(float);
    const double extra = (static_cast<double>(peak_memory() - before) - kept) / megabyte;
    Progress progress;
    const Spread time = time_of([&] { engine.run(problem, weights_and_output(), progress); });
    BenchRow row = timed_row(device + ", weights and output, (B,T,D,H) = " + size.text(), time, "");
    const double share = limit.seconds(flops, bytes) / time.median;
    row.detail += "; " + app::number(flops / time.median * 1e-9, 0) + " GFLOP/s, " +
                  app::number(bytes / time.median * 1e-9, 1) + " GB/s, " + app::number(share * 100, 0) +
                  " % of the machine's limit, " + app::number(extra, 0) + " MB beside what is returned";
    auto json = nlohmann::json::parse(row.json);
    json.update({{"device", device},
                 {"case", {size.B, size.T, size.D, size.H}},
                 {"gflops", flops / time.median * 1e-9},
                 {"gigabytes_per_second", bytes / time.median * 1e-9},
                 {"share_of_limit", share},
                 {"extra_megabytes", extra}});
    row.json = json.dump();
    return row;
}

/// Each row includes the work of the previous row.
void add_stage_rows(std::vector<BenchRow>& rows, const std::string& device, engine::Engine& engine) {
    using enum TensorId;
    const LayerSize size{1, 512, 768, 12};
    const Problem problem = bench_problem(size.B, size.T, size.D, size.H);
    const StageSet qkv = StageSet{}.with(q).with(k).with(v);
    const std::pair<const char*, StageSet> steps[] = {
        {"q, k, v", qkv},
        {"up to output, no weights kept", qkv.with(output)},
        {"up to output, weights kept", qkv.with(weights).with(output)},
        {"with contributions", qkv.with(weights).with(output).with(contributions)},
        {"all stages", StageSet::all()}};
    for (const auto& step : steps) {
        const StageSet wanted = step.second;
        Progress progress;
        const Spread time = time_of([&] { engine.run(problem, wanted, progress); });
        rows.push_back(timed_row(device + ", " + size.text() + ", " + step.first, time, ""));
    }
}

} // namespace

void add_engine_rows(std::vector<BenchRow>& rows, const std::string& id) {
    const MachineLimit limit = measure_machine();
    rows.push_back(
        {"machine, multiply-adds", app::number(limit.flops * 1e-9, 0) + " GFLOP/s",
         std::to_string(limit.threads) + " threads",
         nlohmann::json{{"name", "multiply-adds"}, {"threads", limit.threads}, {"gflops", limit.flops * 1e-9}}
             .dump()});
    rows.push_back({"machine, memory", app::number(limit.bytes * 1e-9, 0) + " GB/s", "a = b + s c, 300 MB",
                    nlohmann::json{{"name", "memory"}, {"gigabytes_per_second", limit.bytes * 1e-9}}.dump()});
    const std::vector<engine::Device> all =
        id == "auto" ? engine::devices().devices : std::vector<engine::Device>{{.id = id}};
    for (const engine::Device& device : all) {
        const std::unique_ptr<engine::Engine> engine = engine::make_engine(device.id);
        for (const LayerSize& size : sizes) {
            // Skips slow devices: a software device may take minutes.
            constexpr double patience = 1;
            if (device.id != "cpu" && seconds_of_one(*engine, bench_problem(size.B, size.T, size.D, size.H),
                                                     weights_and_output()) > patience)
                break;
            rows.push_back(engine_row(size, device.id, *engine, limit));
        }
        add_stage_rows(rows, device.id, *engine);
    }
}

namespace {

constexpr std::int64_t long_map = 131072, short_map = 8192; ///< tokens

/// Adds the map of a causal head of T tokens, as the window makes it on that device. Returns the seconds for
/// the whole map.
double add_map_rows(std::vector<BenchRow>& rows, const std::string& device, std::int64_t T) {
    constexpr std::int64_t most_pixels = 2048;
    Problem problem = bench_problem(1, T, 64, 1);
    problem.mask = {CausalMask{}};
    Progress progress;
    reset_peak_memory();
    const auto start = BenchClock::now();
    const std::unique_ptr<WeightsMap> map = engine::make_map(device, problem, 0, 0, progress);
    double first = 0;
    const auto put = [&](const analysis::MapOverview&) { first = first == 0 ? since(start) : first; };
    const analysis::MapOverview overview = analysis::read_overview(*map, most_pixels, put, nullptr, progress);
    const double seconds = since(start), peak = static_cast<double>(peak_memory()) / megabyte;
    const Spread rectangle = time_of([&] { map->rectangle({T * 3 / 4, T / 2, 512, 512}, progress); });
    const std::string name = device + ", map of " + app::grouped(T) + " tokens, D 64, causal: ";
    rows.push_back(
        {name + "first picture", app::time_text(first), "one run; wanted: under 1 s",
         nlohmann::json{{"name", "map, first picture"}, {"device", device}, {"T", T}, {"seconds", first}}
             .dump()});
    rows.push_back(
        {name + "all of it", app::time_text(seconds),
         "one run, " + app::number(peak, 0) + " MB at most; wanted: under 60 s and 500 MB",
         nlohmann::json{
             {"name", "map"}, {"device", device}, {"T", T}, {"seconds", seconds}, {"peak_megabytes", peak}}
             .dump()});
    rows.push_back(timed_row(name + "a rectangle of 512 x 512", rectangle, "under 16 ms"));
    return seconds;
}

} // namespace

void add_long_row(std::vector<BenchRow>& rows, const std::string& device) {
    add_map_rows(rows, "cpu", long_map); // before the next problem needs its memory
    constexpr double patience = 1;       // a software device takes minutes for the long one
    if (device != "auto" && device != "cpu" && add_map_rows(rows, device, short_map) < patience)
        add_map_rows(rows, device, long_map);
    using enum TensorId;
    const LayerSize size{1, 32768, 1024, 16};
    const Problem problem = bench_problem(size.B, size.T, size.D, size.H);
    const std::unique_ptr<engine::Engine> engine = engine::make_engine("cpu");
    reset_peak_memory();
    const double seconds = seconds_of_one(*engine, problem, StageSet{}.with(q).with(k).with(output));
    const double peak = static_cast<double>(peak_memory()) / megabyte;
    Progress progress;
    const std::unique_ptr<WeightsMap> map = engine::make_map("cpu", problem, 0, 5, progress);
    const Spread tile = time_of([&] { map->rectangle({20'000, 10'000, 512, 512}, progress); });
    rows.push_back({"cpu, no weights kept, " + size.text(), app::time_text(seconds),
                    "one run; " + app::number(peak, 0) + " MB at most; wanted: under 2048 MB",
                    nlohmann::json{{"name", "long"}, {"seconds", seconds}, {"peak_megabytes", peak}}.dump()});
    rows.push_back(timed_row("cpu, a rectangle of 512 x 512 of its weights", tile, "under 20 ms"));
}

} // namespace headscope::bench
