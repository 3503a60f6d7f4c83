#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "app/draw/kit/colour_scale.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/engine/engine.h"
#include "core/engine/head_projection.h"
#include "core/engine/weights_map.h"
#include "core/figure/png.h"
#include "core/format/npy.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <iostream>
#include <memory>

namespace headscope::cli {

namespace {

struct MapOptions {
    ProblemOptions problem;
    ModelOptions model;
    std::int64_t head = 0, batch = 0;
    std::optional<std::string> rectangle, pooling;
    std::optional<std::int64_t> overview;
    std::string out;
};

/// Parses "I0:I1,J0:J1", rows before I1 and columns before J1. Throws Error(input) for another format and for
/// an empty rectangle.
MapPart parse_rectangle(const std::string& text) {
    std::array<std::int64_t, 4> numbers{};
    constexpr std::array<char, 4> after{':', ',', ':', '\0'};
    const char* at = text.c_str();
    for (std::size_t n = 0; n < numbers.size(); ++n) {
        const auto [end, fault] = std::from_chars(at, text.c_str() + text.size(), numbers[n]);
        if (fault != std::errc() || *end != after[n])
            fail_input("--rect " + text +
                       " is not of the form I0:I1,J0:J1; --rect 0:512,1024:1536 has the queries 0 to 511 and "
                       "the keys 1024 to 1535");
        at = end + 1;
    }
    const auto [row, row_end, col, col_end] = numbers;
    if (row < 0 || col < 0)
        fail_input("--rect " + text +
                   " begins before the first weight; queries and keys are numbered from 0");
    if (row_end <= row || col_end <= col)
        fail_input("--rect " + text + " holds no weight; I1 should be larger than I0, and J1 than J0");
    return {row, col, row_end - row, col_end - col};
}

bool ends_in(const std::string& path, const std::string& ending) {
    return path.ends_with(ending);
}

void check_usage(const MapOptions& options) {
    if (options.rectangle.has_value() == options.overview.has_value())
        fail_usage(options.overview ? "--rect and --overview are both given; give one of them"
                                    : "nothing to write; give --rect I0:I1,J0:J1 or --overview 1024");
    if (options.pooling && !options.overview)
        fail_usage("--pool goes with --overview, because a rectangle is not pooled; leave it out");
    if (options.out != "-" && !ends_in(options.out, ".npy") && !ends_in(options.out, ".png"))
        fail_input("the file " + options.out + " should end in .npy or .png");
}

/// Rejects indices that the map does not have, and a size that does not fit into memory, before any long
/// computation.
void check_dims(const MapOptions& options, const Dims& dims) {
    engine::check_head(dims, options.batch, options.head);
    const auto pixels = [&](std::int64_t T) { return std::clamp<std::int64_t>(*options.overview, 1, T); };
    const MapPart part = options.rectangle ? parse_rectangle(*options.rectangle)
                                           : MapPart{0, 0, pixels(dims.Tq), pixels(dims.Tk)};
    check_part(dims.Tq, dims.Tk, part);
    const auto bytes = static_cast<std::uint64_t>(part.rows * part.cols) * sizeof(float);
    require_memory(2 * bytes, "this map, with the file made of it,",
                   "take a smaller rectangle, or an overview with fewer pixels");
}

Problem read_problem(const MapOptions& options) {
    if (options.model.given())
        return options.model.problem_of_layer(options.problem.gains(), options.problem.temperature(),
                                              options.problem.device(),
                                              [&](const Dims& dims) { check_dims(options, dims); });
    return options.problem.read()->problem;
}

/// Uses a logarithmic scale, which makes the weights of a long map distinguishable.
std::string png_bytes(const Tensor& weights, const std::string& legend) {
    const float largest = *std::ranges::max_element(weights.values());
    std::vector<std::uint8_t> grey(weights.values().size());
    std::ranges::transform(weights.values(), grey.begin(), [largest](float weight) {
        return static_cast<std::uint8_t>(
            std::lround(255.0F * app::position_on_scale(weight, 0, largest, true)));
    });
    char scale[160];
    std::snprintf(scale, sizeof scale,
                  "; white is the largest, %.6g, black a 10,000th of it or less, and between them the gray "
                  "follows the logarithm",
                  static_cast<double>(largest));
    return figure::grayscale_png(grey, weights.shape()[1], weights.shape()[0], legend + scale);
}

void run_map(const MapOptions& options) {
    check_usage(options);
    const bool png = ends_in(options.out, ".png");
    const Problem problem = read_problem(options);
    check_dims(options, problem.dims);
    Progress progress;
    const std::unique_ptr<WeightsMap> map =
        engine::make_map(options.problem.device(), problem, options.batch, options.head, progress);
    const auto write = [&](const Tensor& numbers, const std::string& legend) {
        write_file_atomically(options.out, png ? png_bytes(numbers, legend) : format::npy_bytes(numbers));
        std::cerr << "headscope: " << legend << '\n';
    };
    const std::string head = " of head " + std::to_string(options.head);
    if (options.rectangle)
        return write(map->rectangle(parse_rectangle(*options.rectangle), progress),
                     "each number is one weight" + head + ", rows and columns " + *options.rectangle);
    const bool mean = options.pooling == "mean";
    const Overview overview = map->overview(*options.overview, mean ? Pooling::mean : Pooling::max, progress);
    const std::string side = std::to_string(overview.cells);
    write(overview.pixels, "each pixel is the " + std::string(mean ? "mean" : "largest") + " of " + side +
                               " x " + side + " weights" + head);
}

} // namespace

void add_map(CLI::App& program) {
    CLI::App& command =
        *program.add_subcommand("map", "write a part of one head's weights, or an overview of all of them");
    const auto options = std::make_shared<MapOptions>();
    options->problem.add_to(command);
    options->model.add_to(command, "the layer of the head (default 0)");
    options->model.add_stack_to(command);
    const std::string map = "The map";
    command.add_option("--head", options->head, "the head, from 0")->required()->group(map);
    command.add_option("--batch", options->batch, "the batch entry of a file that has several (default 0)")
        ->group(map);
    command
        .add_option("--rect", options->rectangle,
                    "I0:I1,J0:J1: the weights of queries I0 to I1 - 1 for keys J0 to J1 - 1, each of them")
        ->group(map);
    command
        .add_option("--overview", options->overview,
                    "the whole map with at most this many pixels a side; each pixel stands for as many "
                    "weights down as across")
        ->group(map);
    command
        .add_option("--pool", options->pooling,
                    "the value of a pixel: max or mean of its weights (default max)")
        ->check(CLI::IsMember({"max", "mean"}))
        ->group(map);
    command
        .add_option(
            "-o,--output", options->out,
            "the file to write: .npy for numbers, .png for a gray picture; - for .npy on standard output")
        ->required();
    command.callback([options] { run_map(*options); });
}

} // namespace headscope::cli
