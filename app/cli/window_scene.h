#pragma once

#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/shell/program.h"
#include "core/analysis/reading_options.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace headscope::cli {

/// The content of the whole window, or of the picture of one stage: options of `render` and `record`.
struct SceneOptions {
    ProblemOptions problem;
    std::optional<std::string> stage, attention, model, text, patch;
    std::optional<std::int64_t> batch;  ///< the text of `attention`
    std::optional<std::string> compare; ///< A, the checkpoint that `model` is compared with
    SecondText second;
    DecoderText decoder;
    StackOption stack;
    std::optional<std::string> lesson, lessons, sentences;
    std::optional<int> step, question;
    std::string language = "en";
    std::int64_t layer = 0;
    std::string theme = "light", weights_view = "heatmap", heads = "each";
    std::int64_t head = 0;
    std::optional<std::int64_t> row;
    float scale = 1.0F;
    std::string screen = "stages";
    std::optional<double> at; ///< of the Flow's story: a fraction of its time
    std::optional<std::string> token, against, corrupted, patched;
    std::optional<std::string> manual; ///< a place of the manual, "screen", "contents", or words after "?"
    analysis::ReadingOptions reading;
    bool log_colours = false;
    std::string score_colours = "row", colours = "head", numbers = "on", colour_scale = "same";
    std::optional<std::int64_t> compared_head;
    bool present = false;
};

/// Adds the options that both commands have, except --layer. where: prefix of the help for options that only
/// apply to a window. `options` must live as long as the App that has the options.
void add_scene_options(CLI::App& command, SceneOptions& options, const std::string& where);
/// Throws Error(input) for a --scale out of its range.
void check_scale(const SceneOptions& options);

/// Logical pixels.
struct PictureSize {
    int width, height;
};
/// Throws Error(input) for anything but WIDTHxHEIGHT with each from 200 to 16,384.
PictureSize parse_size(const std::optional<std::string>& size, PictureSize usual);

/// Adds the flags that transform or aggregate the weights. `where`: prefix of their help.
void add_reading_options(CLI::App& command, SceneOptions& options, const std::string& where);

/// Throws Error(input) for a stage, head or row that the document does not have.
app::ViewState view_of(const SceneOptions& options, const app::Document& document);

/// Throws MemoryShortage if --memory is less than an empty window needs.
void require_room_for_window();
/// Sets the instant of the Flow's story that --at names; without --at, the picture at rest.
void show_flow_instant(const SceneOptions& options, const app::Shown& shown, app::ViewState& view);
/// Returns the program with only the document; null: the first lesson. Throws what app::Program throws.
std::unique_ptr<app::Program> make_program(const SceneOptions& options, const app::DocumentPtr& document);
/// Shows the scene of the options: a lesson, weights of a file, a checkpoint, or `document`. Throws
/// Error(usage) if options contradict each other, Error(input) if their values are invalid, Error(machine) if
/// the device is missing.
void show_scene(app::Program& program, const SceneOptions& options, const app::DocumentPtr& document);
/// Waits for the program's numbers. Throws Error(input) with the program's error message, Error(machine) if
/// the device is missing.
void check_program(app::Program& program);

} // namespace headscope::cli
