#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "app/cli/window_scene.h"
#include "app/shell/film/films.h"
#include "app/shell/film/writers.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

namespace headscope::cli {

namespace {

struct RecordOptions : SceneOptions {
    std::optional<std::string> size, film_lesson, script;
    std::string out;
    app::FilmLook look;
    bool stages = false, presented = false;
};

/// Checks before minutes of work instead of after.
void check_folder(const std::string& out) {
    const std::filesystem::path folder = std::filesystem::path(out).parent_path();
    std::error_code none;
    if (!folder.empty() && !std::filesystem::is_directory(folder, none))
        fail_input("cannot write " + out + ": there is no folder " + folder.string() +
                   "; make it, or name another");
}

void run_record(RecordOptions& options) {
    const app::FilmFormat format = app::film_format(options.out);
    const bool flow = options.screen == "flow";
    if (!options.stages && !options.film_lesson && !options.script && !flow)
        fail_usage("there is nothing to film; give --stages, --screen flow, --lesson ID or --script FILE");
    check_scale(options);
    const PictureSize size = parse_size(options.size, {options.look.width, options.look.height});
    options.look.width = size.width;
    options.look.height = size.height;
    options.look.scale = options.scale;
    check_folder(options.out);
    std::vector<app::ScriptLine> script;
    if (options.script)
        script = app::parse_script(read_file(*options.script), *options.script);
    if (!options.model && (options.reading != analysis::ReadingOptions{} || options.log_colours))
        fail_usage(
            "--log-colours and other ways to read weights are for weights of a checkpoint; give --model "
            "too");
    options.stage = "x"; // start at the first step
    const app::DocumentPtr document = options.model || options.film_lesson ? nullptr : options.problem.read();
    const std::unique_ptr<app::Program> program = make_program(options, document);
    if (options.film_lesson) {
        program->act(app::SetDark{options.theme == "dark"});
        check_program(*program);
    } else {
        show_scene(*program, options, document);
    }
    if (options.presented)
        program->act(app::Present{});
    const std::unique_ptr<app::FilmWriter> writer =
        app::film_writer(format,
                         {.title = app::film_title(program->state(), options.film_lesson.value_or("")),
                          .language = options.film_lesson ? options.language : std::string(language_in_use()),
                          .dark = options.theme == "dark"},
                         options.look);
    app::Recorder recorder(*program, *writer, options.look);
    if (options.film_lesson)
        app::film_lesson(recorder, *options.film_lesson);
    else if (flow)
        app::film_flow(recorder);
    else if (options.script)
        app::film_script(recorder, script, *options.script);
    else {
        // The stages before the weights belong to the model's own run.
        program->act(app::SetReadingOptions{});
        check_program(*program);
        app::film_stages(recorder, options.reading);
    }
    write_file_atomically(options.out, writer->finish());
}

} // namespace

void add_record(CLI::App& program) {
    CLI::App& command = *program.add_subcommand("record", "film the window as GIF, MP4 or a page of HTML");
    const auto options = std::make_shared<RecordOptions>();
    add_scene_options(command, *options, "");
    command
        .add_option(
            "--layer", options->layer,
            "with --model: the layer whose stages are filmed, or that is open in the Flow (default 0)")
        ->needs("--model");
    add_reading_options(command, *options, "with --model: ");
    CLI::Option* const stages =
        command.add_flag("--stages", options->stages, "film the stages from the first to the last");
    CLI::Option* const lesson =
        command.add_option("--lesson", options->film_lesson,
                           "film every page of the lesson with this id, with its tasks solved");
    exclude_problem(command, *lesson);
    lesson->excludes(stages);
    for (const char* other : {"--model", "--gain", "--temperature", "--head", "--view", "--show-heads"})
        lesson->excludes(command.get_option(other));
    command
        .add_option(
            "--screen", options->screen,
            "flow: film the story of one word, --row, in one head, --head, as the Flow plays it; with "
            "--model the way of the residual stream through the layers")
        ->check(CLI::IsMember({"flow"}))
        ->excludes(stages)
        ->excludes(lesson);
    command.add_option("--row", options->row,
                       "with --screen flow: the word, from 0 (default: the middle); with --model the token "
                       "(default: the last)");
    command.add_option("--script", options->script, "film the actions that the lines of this file name")
        ->excludes(stages)
        ->excludes(lesson);
    command.add_flag("--present", options->presented,
                     "film as it is presented to a class: the canvas alone and enlarged, with the lesson's "
                     "text beside it");
    command.add_option("--size", options->size, "WIDTHxHEIGHT in logical pixels (default 1280x800)");
    command.add_option("--fps", options->look.fps, "frames a second, 10 to 50")->capture_default_str();
    command
        .add_option(
            "--rest", options->look.rest,
            "seconds for each picture; a picture of a lesson stays longer if its text takes longer to read")
        ->capture_default_str();
    command
        .add_option("--frames-limit", options->look.most_frames, "refuse a film with more frames than this")
        ->capture_default_str();
    command
        .add_option(
            "-o,--output", options->out,
            "the .gif or .mp4 file to write, which takes the program ffmpeg, or .html, which takes none")
        ->required();
    command.callback([options] { run_record(*options); });
}

} // namespace headscope::cli
