#include "app/cli/bench/bench_attention.h"
#include "app/cli/bench/bench_clock.h"
#include "app/cli/bench/bench_editing.h"
#include "app/cli/bench/bench_frames.h"
#include "app/cli/bench/bench_machine.h"
#include "app/cli/bench/bench_rows.h"
#include "app/cli/problem_options.h"
#include "app/cli/subcommands.h"
#include "app/draw/kit/format.h"
#include "app/shell/program.h"
#include "app/shell/window.h"
#include "core/base/error.h"
#include "core/checkpoint/files/packaged_models.h"

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

namespace headscope::cli {

namespace {

std::string sentence_of(int words) {
    std::string sentence;
    const std::vector<std::string> some{"the",  "old", "cat",   "sees", "a",    "bird",
                                        "near", "her", "house", "and",  "runs", "away"};
    for (int i = 0; i < words; ++i)
        sentence += (i > 0 ? " " : "") + some[static_cast<std::size_t>(i) % some.size()];
    return sentence;
}

BenchRow frame_work(const std::string& name, const project::Recipe& recipe, const std::string& wanted,
                    const std::vector<app::Action>& before = {}) {
    app::Program program({.recipe = recipe, .device = "auto", .wake = {}});
    program.settle();
    for (const app::Action& action : before) {
        program.act(action);
        program.settle();
    }
    return timed_row("frame's own work, " + name, spread_of(run_frames(program, 120).own), wanted);
}

/// Runs in a process of its own: opens the window, leaves it idle, and prints its measurements as JSON.
void measure_window() {
    constexpr std::chrono::milliseconds settling(500), idle(3000);
    app::Program program({.recipe = {}, .device = "auto", .wake = app::wake_window});
    TimedUi ui(program);
    double first_frame = 0, idle_share = 0;
    std::thread watcher;
    app::WindowOptions options;
    options.on_first_frame = [&](double milliseconds) {
        first_frame = milliseconds;
        watcher = std::thread([&] {
            std::this_thread::sleep_for(settling);
            const std::clock_t before = std::clock();
            std::this_thread::sleep_for(idle);
            idle_share = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC /
                         std::chrono::duration<double>(idle).count();
            ui.quit = true;
            app::wake_window();
        });
    };
    app::run_window(ui, options);
    if (watcher.joinable())
        watcher.join();
    std::cout << nlohmann::json{{"first_frame_ms", first_frame},
                                {"idle_share", idle_share},
                                {"resident_mb", static_cast<double>(resident_memory()) / (1 << 20)}}
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

void add_window_rows(std::vector<BenchRow>& rows) {
    if (std::getenv("DISPLAY") == nullptr) {
        rows.push_back({"window", "not measured", "no display; run it under xvfb-run",
                        nlohmann::json{{"name", "window"}, {"skipped", "no display"}}.dump()});
        return;
    }
    std::vector<double> starts;
    nlohmann::json last;
    for (int run = 0; run < 5; ++run) {
        last = nlohmann::json::parse(run_self("bench --in-window"), nullptr, false);
        if (!last.is_object())
            throw Error(ErrorKind::machine,
                        "the window could not be opened; start headscope to see the reason");
        starts.push_back(last.at("first_frame_ms").get<double>() / 1000);
    }
    rows.push_back(timed_row("program start to first frame", spread_of(starts), "under 400 ms"));
    const double idle = last.at("idle_share").get<double>(), resident = last.at("resident_mb").get<double>();
    rows.push_back({"idle, share of a core", app::number(idle * 100, 2) + " %", "wanted: under 2 %",
                    nlohmann::json{{"name", "idle"}, {"share", idle}}.dump()});
    rows.push_back({"resident memory", app::number(resident, 0) + " MB",
                    "with Mesa's software GL; wanted: under 150 MB",
                    nlohmann::json{{"name", "resident"}, {"megabytes", resident}}.dump()});
}

void print(const std::vector<BenchRow>& rows, bool json) {
    if (json) {
        auto all = nlohmann::json::array();
        for (const BenchRow& row : rows)
            all.push_back(nlohmann::json::parse(row.json));
        std::cout << all.dump(2) << '\n';
        return;
    }
    std::size_t widest = 0;
    for (const BenchRow& row : rows)
        widest = std::max(widest, row.name.size());
    for (const BenchRow& row : rows)
        std::cout << row.name << std::string(widest + 2 - row.name.size(), ' ') << row.value
                  << std::string(static_cast<std::size_t>(std::max(1, 14 - app::columns(row.value))), ' ')
                  << row.detail << '\n';
}

/// Adds the rows for delays that a user notices.
void add_latency_rows(std::vector<BenchRow>& rows) {
    project::Recipe many;
    many.preset = "eight-experts";
    many.sentence = sentence_of(64);
    add_edit_rows(rows);
    rows.push_back(frame_work("first-lesson", {}, "under 2 ms"));
    rows.push_back(frame_work("eight heads of 64 x 64", many, "under 5 ms"));
    rows.push_back(frame_work("the same, difference", many, "under 5 ms",
                              {app::MarkBaseline{}, app::Command(app::SetTemperature{2}),
                               app::ViewChange(app::SetCompare{app::Compare::difference})}));
    rows.push_back(timed_row("frame's own work, dragging at D 512, H 8, T 64", spread_of(editing_frames()),
                             "under 16 ms"));
    add_window_rows(rows);
}

} // namespace

void add_bench(CLI::App& program) {
    struct Options {
        bool quick = false, engine = false, long_text = false, json = false, in_window = false,
             attention = false;
        std::string device = "auto", model, effects, survey;
    };
    CLI::App& command =
        *program.add_subcommand("bench", "measure this machine: engine, frames, start, memory");
    const auto options = std::make_shared<Options>();
    CLI::Option* const quick = command.add_flag(
        "--quick", options->quick, "only what a user notices: edits, frames, start, idling, memory");
    command
        .add_flag("--engine", options->engine,
                  "only the standard sizes, against this machine's limit; on every device unless --device "
                  "names one")
        ->excludes(quick);
    add_device_option(command, options->device);
    command.add_flag("--long", options->long_text,
                     "also measure 32,768 tokens, a map of 131,072, and files of 17 and 27 GB, which take no "
                     "space on the disk; takes a minute");
    command.add_flag("--json", options->json, "print JSON");
    command.add_flag("--attention", options->attention, "only the board of heads, with attention in memory");
    command
        .add_option("--model", options->model,
                    "only a checkpoint's forward pass: the folder of the checkpoint, or pocket")
        ->transform(checkpoint::model_folder);
    command
        .add_option("--effects", options->effects,
                    "only what takes the predictions of a checkpoint apart: its folder, or pocket")
        ->transform(checkpoint::model_folder);
    command
        .add_option(
            "--survey", options->survey,
            "only a survey of made-up texts, against the forward pass: a checkpoint folder, or pocket")
        ->transform(checkpoint::model_folder);
    command.add_flag("--in-window", options->in_window)->group("");
    command.callback([options] {
        if (options->in_window)
            return measure_window();
        if (options->attention)
            return bench_attention(options->json);
        std::vector<BenchRow> rows;
        if (!options->model.empty()) {
            add_model_rows(rows, options->model);
            return print(rows, options->json);
        }
        if (!options->effects.empty()) {
            add_effects_rows(rows, options->effects);
            return print(rows, options->json);
        }
        if (!options->survey.empty()) {
            add_survey_rows(rows, options->survey);
            return print(rows, options->json);
        }
        if (!options->engine)
            add_latency_rows(rows);
        if (!options->quick)
            add_engine_rows(rows, options->device);
        if (options->long_text) {
            add_file_rows(rows); // before the problems take their memory
            add_long_row(rows);
        }
        print(rows, options->json);
    });
}

} // namespace headscope::cli
