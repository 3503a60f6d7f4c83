#include "app/cli/render/figure_options.h"
#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "app/cli/window_scene.h"
#include "app/shell/gl/offscreen.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

namespace headscope::cli {

namespace {

struct RenderOptions : SceneOptions {
    FigureOptions figure;
    const CLI::Option* one_head = nullptr;
    std::optional<std::string> size, point;
    std::string out;
    bool window = false;
};

std::vector<std::string> screen_names() {
    std::vector<std::string> names;
    for (const app::NamedScreen& one : app::named_screens())
        names.emplace_back(one.name);
    return names;
}

/// Returns the mouse position of --point, in logical pixels.
std::optional<figure::Point> parse_point(const std::optional<std::string>& point) {
    if (!point)
        return std::nullopt;
    figure::Point at;
    char comma = 0, rest = 0;
    if (std::sscanf(point->c_str(), "%f%c%f%c", &at.x, &comma, &at.y, &rest) != 3 || comma != ',')
        fail_input("--point " + *point + " is not X,Y in logical pixels; write for example 400,300");
    return at;
}

std::string render_window(const RenderOptions& options, const app::DocumentPtr& document, PictureSize size,
                          figure::FigureFormat format) {
    if (format != figure::FigureFormat::png)
        fail_input("--window is drawn as pixels; give the output a name that ends in .png");
    const std::unique_ptr<app::Program> program = make_program(options, document);
    show_scene(*program, options, document);
    const app::AppState& state = program->state();
    require_screen(options, state);
    if (state.shown.map != nullptr || options.present) {
        // The result depends on the size of the viewport, which the first frame determines.
        app::render_offscreen(*program, size.width, size.height, options.scale);
        check_program(*program);
    }
    return app::png_bytes(app::render_offscreen(*program, size.width, size.height, options.scale,
                                                {.mouse = parse_point(options.point)}));
}

void run_render(const RenderOptions& options) {
    const bool flow = options.screen == "flow";
    const PictureSize size = parse_size(options.size, {1600, 1000});
    if (options.at && (!flow || *options.at < 0 || *options.at > 1))
        fail_input(flow ? "--at " + std::to_string(*options.at) +
                              " is not between 0 and 1, the end of the story"
                        : "--at is an instant of the Flow's story; give --screen flow too");
    const figure::FigureFormat format =
        options.out == "-" ? figure::FigureFormat::png : figure::figure_format(options.out);
    if (options.window && options.figure.given())
        throw Error(ErrorKind::usage, "the window has no options of a figure; leave --window or them out");
    if (options.sentences && !options.window)
        throw Error(ErrorKind::usage, "a list of sentences is shown in the window; give --window too");
    if (!options.attention && !options.model &&
        (options.reading != analysis::ReadingOptions{} || options.log_colours))
        throw Error(
            ErrorKind::usage,
            "--log-colours and other ways to read weights are for weights of a file or a checkpoint; give "
            "--attention or --model too");
    if (options.stack.name() && !options.attention && !options.model)
        throw Error(ErrorKind::usage,
                    "--stack is one attention of an encoder-decoder; give --attention or --model too");
    if (options.screen != "stages" && options.screen != "flow" && options.screen != "atlas" &&
        options.screen != "map" && !options.model)
        throw Error(ErrorKind::usage,
                    "--screen " + options.screen + " applies to a checkpoint; give --model");
    if ((options.lesson || options.step || options.question) && !(options.lesson && options.window))
        throw Error(ErrorKind::usage,
                    "a page of a lesson is drawn in the window; give --window and --lesson ID");
    if (options.manual && !options.window)
        throw Error(ErrorKind::usage, "the manual is drawn in the window; give --window too");
    if (options.present && !options.window)
        throw Error(ErrorKind::usage, "only the window can be presented; give --window too");
    if (options.step && options.question)
        throw Error(ErrorKind::usage, "--step and --question were given; give one of them");
    if (options.compare && options.screen != "atlas" && !(options.window && options.screen == "stages"))
        throw Error(ErrorKind::usage, "--compare shows B - A on --screen atlas, and with --window on the "
                                      "stages; give one of them");
    check_scale(options);
    const app::DocumentPtr document = options.model ? nullptr : options.problem.read();
    if (options.window)
        return write_file_atomically(options.out, render_window(options, document, size, format));
    const FigureScene figure{.scene = options,
                             .one_head = options.one_head->count() > 0,
                             .size = options.size ? std::optional(size) : std::nullopt,
                             .format = format,
                             .choice =
                                 options.figure.choice(options.theme, options.size.has_value(), format)};
    write_file_atomically(options.out, render_figure(figure, document));
}

} // namespace

void add_render(CLI::App& program) {
    CLI::App& command =
        *program.add_subcommand("render", "draw a figure or the whole window, without a display");
    const auto options = std::make_shared<RenderOptions>();
    add_scene_options(command, *options, "with --window: ");
    options->one_head = command.get_option("--head");
    options->figure.add_to(command);
    command.add_option(
        "--stage", options->stage,
        "the stage to draw, by the name that trace uses or that the strip of stages has, such as "
        "split (default: weights; with --window, as the program opens)");
    command.add_flag("--window", options->window, "draw the whole window of the program (PNG only)");
    command.add_option(
        "--size", options->size,
        "WIDTHxHEIGHT in logical pixels (default: a figure is cropped to its content; 1600x1000 "
        "with --window)");
    CLI::Option* const attention = command.add_option(
        "--attention", options->attention,
        "show attention weights of this .npy, .npz or .safetensors file, or of JSON for CircuitsVis");
    command.add_option("--batch", options->batch, "the text of a file that holds several, from 0")
        ->needs(attention);
    CLI::Option* const model = command.get_option("--model");
    command.get_option("--stack")->remove_needs(model);
    model->excludes("--attention");
    command
        .add_option(
            "--compare", options->compare,
            "with --model B: the checkpoint A that B is compared with; shows B - A on --screen atlas, "
            "or with --window on the stages")
        ->transform(checkpoint::model_folder)
        ->needs(model)
        ->excludes("--patch");
    exclude_problem(command, *command.get_option("--attention"));
    CLI::Option* const screen =
        command
            .add_option(
                "--screen", options->screen,
                "stages, flow (the whole attention as one picture) or atlas (all heads by their scores); "
                "with --model also effects (the logit "
                "attribution of every head), by-source (what the open head adds at every position), ablated "
                "(its zero ablation), averaged (its mean ablation), patching (see --corrupted), circuits, "
                "why (the components of the largest score of --row) or map (from 2,048 tokens on)")
            ->check(CLI::IsMember(screen_names()));
    command
        .add_option(
            "--at", options->at,
            "with --screen flow: the instant of the story of --row, from 0 to 1 (default: the picture at "
            "rest)")
        ->needs(screen);
    command
        .add_option("--corrupted", options->corrupted,
                    "with --screen patching: the second prompt, which runs with activations of --text")
        ->needs(screen);
    std::vector<std::string> kinds{"paths"};
    for (const analysis::PatchKindInfo& info : analysis::patch_kinds())
        kinds.emplace_back(info.id);
    command
        .add_option("--patched", options->patched,
                    "with --screen patching: the patched activation, or paths: from the open head (default: "
                    "residual)")
        ->check(CLI::IsMember(kinds))
        ->needs(screen);
    command
        .add_option("--token", options->token,
                    "with --screen: the token whose logit is split, or that circuits read")
        ->needs(screen);
    command.add_option("--against", options->against, "with --screen: the token whose logit is subtracted")
        ->needs(screen);
    command.add_option("--layer", options->layer,
                       "with --attention or --model: the layer of the open head (default 0)");
    add_reading_options(command, *options, "with --attention or --model: ");
    command.add_option("--lesson", options->lesson,
                       "with --window: show the lesson with this id, with the problem and view of its page");
    command.add_option("--step", options->step, "with --lesson: a step, from 1 (default: its opening)");
    command.add_option("--question", options->question, "with --lesson: a question of the quiz, from 1");
    command.add_option("--manual", options->manual,
                       "with --window: the manual open at a page or a heading, such as effects#logit-lens; "
                       "screen: at the topic on screen; contents; or ?WORDS: the results of a search");
    CLI::Option* const present =
        command.add_flag("--present", options->present, "with --window: as it is presented to a class");
    command.add_option("--point", options->point, "with --present: X,Y of the mouse, in logical pixels")
        ->needs(present);
    command.add_option("--row", options->row, "select this query row");
    command
        .add_option("-o,--output", options->out,
                    "the .png, .svg or .pdf file to write; - for a PNG on standard output")
        ->required();
    command.callback([options] { run_render(*options); });
}

} // namespace headscope::cli
