#include "app/cli/bench_attention.h"
#include "app/cli/bench_editing.h"
#include "app/cli/subcommands.h"
#include "app/draw/format.h"
#include "app/shell/offscreen.h"
#include "app/shell/program.h"
#include "app/shell/window.h"
#include "core/attention/cost.h"
#include "core/base/error.h"
#include "core/text/preset.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

namespace headscope {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Spread {
    double median = 0, lower = 0, upper = 0; ///< quartiles
};

Spread spread_of(std::vector<double> values) {
    std::ranges::sort(values);
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    return {at(0.5), at(0.25), at(0.75)};
}

/// Seconds of one call: the median of 31 samples that each last at least 2 ms, after a warm-up.
Spread time_of(const std::function<void()>& call) {
    call();
    const auto start = Clock::now();
    call();
    const double once = std::max(since(start), 1e-7);
    const int repeats = std::max(1, static_cast<int>(2e-3 / once));
    std::vector<double> samples;
    for (int sample = 0; sample < 31; ++sample) {
        const auto begin = Clock::now();
        for (int i = 0; i < repeats; ++i)
            call();
        samples.push_back(since(begin) / repeats);
    }
    return spread_of(std::move(samples));
}

struct Row {
    std::string name, value, detail;
    nlohmann::json json;
};

Row timed_row(const std::string& name, const Spread& time, const std::string& wanted) {
    return {name,
            time_text(time.median),
            "quartiles " + time_text(time.lower) + " to " + time_text(time.upper) +
                (wanted.empty() ? "" : "; wanted: " + wanted),
            {{"name", name},
             {"seconds", time.median},
             {"lower_quartile", time.lower},
             {"upper_quartile", time.upper}}};
}

/// One weight changed, every stage computed anew.
Row edit_to_trace(const std::string& name, const Problem& problem, const std::string& wanted) {
    const std::unique_ptr<Engine> engine = make_engine("auto");
    Problem edited = problem;
    float step = 0;
    const Spread time = time_of([&] {
        Tensor W_O(problem.weights.W_O->shape(), problem.weights.W_O->values());
        W_O.at(0, 0) += step += 0.01F;
        edited.weights.W_O = std::make_shared<const Tensor>(std::move(W_O));
        static_cast<Engine&>(*engine).run(edited);
    });
    return timed_row("edit to trace, " + name, time, wanted);
}

std::string sentence_of(int words) {
    std::string sentence;
    const std::vector<std::string> some{"the",  "old", "cat",   "sees", "a",    "bird",
                                        "near", "her", "house", "and",  "runs", "away"};
    for (int i = 0; i < words; ++i)
        sentence += (i > 0 ? " " : "") + some[static_cast<std::size_t>(i) % some.size()];
    return sentence;
}

/// Times what the program itself does for a frame, without GL's part.
class TimedUi : public Ui {
public:
    explicit TimedUi(Program& program) : program_(program) {}
    void frame(Surface& surface, double now) override {
        const auto start = Clock::now();
        program_.frame(surface, now);
        frames.push_back(since(start));
    }
    bool animating() const override { return program_.animating(); }
    float zoom() const override { return program_.zoom(); }
    Color background() const override { return program_.background(); }
    std::string title() const override { return program_.title(); }
    bool quitting() const override { return quit || program_.quitting(); }

    std::vector<double> frames;
    std::atomic<bool> quit{false};

private:
    Program& program_;
};

Row frame_work(const std::string& name, const Recipe& recipe, const std::string& wanted,
               const std::vector<Action>& before = {}) {
    Program program({.recipe = recipe, .device = "auto", .wake = {}});
    program.settle();
    for (const Action& action : before) {
        program.act(action);
        program.settle();
    }
    TimedUi ui(program);
    render_offscreen(ui, 1600, 1000, 1.0F, {.frames = 120, .mouse = {}});
    ui.frames.erase(ui.frames.begin(), ui.frames.begin() + 10);
    return timed_row("frame's own work, " + name, spread_of(ui.frames), wanted);
}

double resident_megabytes() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmRSS:"))
            return std::stod(line.substr(6)) / 1024.0;
    return 0;
}

/// Runs in a process of its own: opens the window, lets it stand idle, prints what it measured as JSON.
void measure_window() {
    constexpr std::chrono::milliseconds settling(500), idle(3000);
    Program program({.recipe = {}, .device = "auto", .wake = wake_window});
    TimedUi ui(program);
    double first_frame = 0, idle_share = 0;
    std::thread watcher;
    WindowOptions options;
    options.on_first_frame = [&](double milliseconds) {
        first_frame = milliseconds;
        watcher = std::thread([&] {
            std::this_thread::sleep_for(settling);
            const std::clock_t before = std::clock();
            std::this_thread::sleep_for(idle);
            idle_share = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC /
                         std::chrono::duration<double>(idle).count();
            ui.quit = true;
            wake_window();
        });
    };
    run_window(ui, options);
    if (watcher.joinable())
        watcher.join();
    std::cout << nlohmann::json{{"first_frame_ms", first_frame},
                                {"idle_share", idle_share},
                                {"resident_mb", resident_megabytes()}}
              << '\n';
}

std::string run_self(const std::string& arguments) {
    std::string path(4096, '\0');
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    std::FILE* pipe = popen(("'" + path + "' " + arguments).c_str(), "r");
    if (pipe == nullptr)
        return {};
    std::string out;
    char buffer[256];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr)
        out += buffer;
    pclose(pipe);
    return out;
}

void add_window_rows(std::vector<Row>& rows) {
    if (std::getenv("DISPLAY") == nullptr) {
        rows.push_back({"window",
                        "not measured",
                        "no display; run it under xvfb-run",
                        {{"name", "window"}, {"skipped", "no display"}}});
        return;
    }
    std::vector<double> starts;
    nlohmann::json last;
    for (int run = 0; run < 5; ++run) {
        last = nlohmann::json::parse(run_self("bench --in-window"), nullptr, false);
        if (!last.is_object())
            throw Error(ErrorKind::machine,
                        "the window could not be opened for measuring; see what headscope itself says");
        starts.push_back(last.at("first_frame_ms").get<double>() / 1000);
    }
    rows.push_back(timed_row("program start to first frame", spread_of(starts), "under 400 ms"));
    const double idle = last.at("idle_share").get<double>(), resident = last.at("resident_mb").get<double>();
    rows.push_back({"idle, share of a core",
                    number(idle * 100, 2) + " %",
                    "wanted: under 2 %",
                    {{"name", "idle"}, {"share", idle}}});
    rows.push_back({"resident memory",
                    number(resident, 0) + " MB",
                    "with Mesa's software GL; wanted: under 150 MB",
                    {{"name", "resident"}, {"megabytes", resident}}});
}

/// The standard sizes, every stage kept up to the weights.
void add_engine_rows(std::vector<Row>& rows) {
    const Dims sizes[] = {{1, 4, 4, 8, 8, 2, 2, 4, 4},
                          {1, 10, 10, 512, 512, 8, 8, 64, 64},
                          {1, 128, 128, 768, 768, 12, 12, 64, 64},
                          {1, 512, 512, 768, 768, 12, 12, 64, 64}};
    for (const Dims& d : sizes) {
        const auto filled = [](const Shape& shape, float scale) {
            Tensor tensor(shape);
            std::uint64_t state = 88172645463325252ULL;
            std::ranges::generate(tensor.values(), [&] {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                return scale * (static_cast<float>(state >> 40) / static_cast<float>(1 << 23) - 1.0F);
            });
            return std::make_shared<const Tensor>(std::move(tensor));
        };
        const float scale = 1.0F / std::sqrt(static_cast<float>(d.D));
        const Problem problem{.dims = d,
                              .x = filled({d.B, d.Tq, d.D}, 1),
                              .x_kv = nullptr,
                              .weights = {filled({d.D, d.H * d.dk}, scale), filled({d.D, d.H * d.dk}, scale),
                                          filled({d.D, d.H * d.dv}, scale), filled({d.H * d.dv, d.D}, scale),
                                          nullptr, nullptr, nullptr, nullptr},
                              .mask = {},
                              .gains = {},
                              .temperature = 1,
                              .tokens = {},
                              .kv_tokens = {}};
        const std::unique_ptr<Engine> engine = make_engine("auto");
        Progress progress;
        const StageSet wanted = StageSet{}.with(TensorId::weights).with(TensorId::output);
        const Spread time = time_of([&] { engine->run(problem, wanted, progress); });
        const double gflops = static_cast<double>(cost_of(d, false).flops()) / time.median * 1e-9;
        rows.push_back(timed_row("weights and output, (B,T,D,H) = (" + std::to_string(d.B) + "," +
                                     std::to_string(d.Tq) + "," + std::to_string(d.D) + "," +
                                     std::to_string(d.H) + ")",
                                 time, ""));
        rows.back().detail += "; " + number(gflops, 1) + " GFLOP/s";
        rows.back().json["gflops"] = gflops;
    }
}

void print(const std::vector<Row>& rows, bool json) {
    if (json) {
        auto all = nlohmann::json::array();
        for (const Row& row : rows)
            all.push_back(row.json);
        std::cout << all.dump(2) << '\n';
        return;
    }
    std::size_t widest = 0;
    for (const Row& row : rows)
        widest = std::max(widest, row.name.size());
    for (const Row& row : rows)
        std::cout << row.name << std::string(widest + 2 - row.name.size(), ' ') << row.value
                  << std::string(static_cast<std::size_t>(std::max(1, 14 - columns(row.value))), ' ')
                  << row.detail << '\n';
}

void run_bench(bool quick, bool json) {
    std::vector<Row> rows;
    Recipe many;
    many.preset = "eight-experts";
    many.sentence = sentence_of(64);
    rows.push_back(edit_to_trace("first-lesson", build_preset("first-lesson", "The cat sat down").problem,
                                 "under 50 µs"));
    rows.push_back(edit_to_trace("eight-experts, 16 tokens",
                                 build_preset("eight-experts", sentence_of(16)).problem, "under 500 µs"));
    rows.push_back(frame_work("first-lesson", {}, "under 2 ms"));
    rows.push_back(frame_work("eight heads of 64 x 64", many, "under 5 ms"));
    rows.push_back(frame_work(
        "the same, difference", many, "under 5 ms",
        {MarkBaseline{}, Command(SetTemperature{2}), ViewChange(SetCompare{Compare::difference})}));
    rows.push_back(timed_row("frame's own work, dragging at D 512, H 8, T 64", spread_of(editing_frames()),
                             "under 16 ms"));
    add_window_rows(rows);
    if (!quick)
        add_engine_rows(rows);
    print(rows, json);
}

} // namespace

void add_bench(CLI::App& program) {
    struct Options {
        bool quick = false, json = false, in_window = false, attention = false;
    };
    CLI::App& command =
        *program.add_subcommand("bench", "measure this machine: engine, frames, start, memory");
    const auto options = std::make_shared<Options>();
    command.add_flag("--quick", options->quick,
                     "only what a user feels: edits, frames, start, idling, memory");
    command.add_flag("--json", options->json, "for other programs");
    command.add_flag("--attention", options->attention, "only the board of heads, of attention in memory");
    command.add_flag("--in-window", options->in_window)->group("");
    command.callback([options] {
        if (options->in_window)
            measure_window();
        else if (options->attention)
            bench_attention(options->json);
        else
            run_bench(options->quick, options->json);
    });
}

} // namespace headscope
