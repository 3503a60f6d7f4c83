#include "app/cli/cli.h"
#include "app/cli/problem_options.h"
#include "app/cli/project_arguments.h"
#include "app/draw/kit/format.h"
#include "app/shell/program.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/tensor/free_buffers.h"
#include "tests/bench/attention.h"
#include "tests/bench/clock.h"
#include "tests/bench/editing.h"
#include "tests/bench/flow.h"
#include "tests/bench/frames.h"
#include "tests/bench/machine.h"
#include "tests/bench/rows.h"
#include "tests/bench/window.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::bench {

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
    app::Program program({.recipe = recipe, .device = "auto"});
    program.settle();
    for (const app::Action& action : before) {
        program.act(action);
        program.settle();
    }
    return timed_row("frame's own work, " + name, spread_of(run_frames(program, 120).own), wanted);
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
    rows.push_back(
        frame_work("the same, difference", many, "under 5 ms",
                   {app::MarkBaseline{}, app::SetTemperature{2}, app::SetCompare{app::Compare::difference}}));
    rows.push_back(timed_row("frame's own work, dragging at D 512, H 8, T 64", spread_of(editing_frames()),
                             "under 16 ms"));
    project::Recipe twelve;
    twelve.preset = "eight-experts";
    twelve.sentence = sentence_of(12);
    rows.push_back(timed_row("frame to frame while the Flow plays, 2 heads x 4 words",
                             spread_of(flow_frames({})), "under 16.7 ms, with software GL"));
    rows.push_back(timed_row("frame to frame while the Flow plays, 8 heads x 12 words",
                             spread_of(flow_frames(twelve)), "under 16.7 ms, with software GL"));
    add_window_rows(rows);
}

struct Options {
    bool quick = false, engine = false, long_text = false, json = false, in_window = false, attention = false;
    std::string device = "auto", model, effects, survey;
};

void measure(const Options& options) {
    if (options.in_window)
        return measure_window();
    enable_prompt_memory_release(); // like the window
    if (options.attention)
        return bench_attention(options.json);
    std::vector<BenchRow> rows;
    if (!options.model.empty()) {
        add_model_rows(rows, options.model);
        return print(rows, options.json);
    }
    if (!options.effects.empty()) {
        add_effects_rows(rows, options.effects);
        return print(rows, options.json);
    }
    if (!options.survey.empty()) {
        add_survey_rows(rows, options.survey);
        return print(rows, options.json);
    }
    if (!options.engine)
        add_latency_rows(rows);
    if (!options.quick)
        add_engine_rows(rows, options.device);
    if (options.long_text) {
        add_file_rows(rows); // before the problems take their memory
        add_long_row(rows, options.device);
        add_map_frame_rows(rows);
    }
    print(rows, options.json);
}

/// Adds all options. Returns the action of the program.
std::function<int()> add_options(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    CLI::Option* const quick = command.add_flag(
        "--quick", options->quick, "only what a user notices: edits, frames, start, idling, memory");
    command
        .add_flag("--engine", options->engine,
                  "only the standard sizes, against this machine's limit; on every device unless --device "
                  "names one")
        ->excludes(quick);
    cli::add_device_option(command, options->device);
    command.add_flag("--long", options->long_text,
                     "also measure 32,768 tokens, a map of 131,072, and files of 17 and 27 GB, which take no "
                     "space on the disk; takes a minute");
    command.add_flag("--json", options->json, "print JSON");
    command.add_flag("--attention", options->attention, "only the grid of heads, with attention in memory");
    command
        .add_option("--model", options->model,
                    "only a checkpoint's forward pass: the folder of the checkpoint, or pocket")
        ->transform(checkpoint::model_folder);
    cli::add_project_option(command);
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
    return [options] {
        measure(*options);
        return 0;
    };
}

} // namespace
} // namespace headscope::bench

int main(int argc, char** argv) {
    CLI::App program("Measure this machine with Headscope: engine, frames, start, memory", "headscope-bench");
    return headscope::cli::run_command_line(program, headscope::bench::add_options, argc, argv);
}
