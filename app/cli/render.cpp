#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/subcommands.h"
#include "app/draw/pages/stage_figure.h"
#include "app/shell/gl/offscreen.h"
#include "app/shell/program.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/block_stages.h"
#include "core/engine/engine.h"
#include "core/format/attention_file.h"
#include "core/lesson/library.h"
#include "core/trace/find_stop.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

namespace headscope::cli {

namespace {

struct RenderOptions {
    ProblemOptions problem;
    std::optional<std::string> stage, size, attention, model, text, patch;
    DecoderText decoder;
    StackOption stack;
    std::optional<std::string> lesson, lessons;
    std::optional<int> step, question;
    std::string language = "en";
    std::int64_t layer = 0;
    std::string theme = "light", weights_view = "heatmap", heads = "each", out;
    std::int64_t head = 0;
    std::optional<std::int64_t> row;
    float scale = 1.0F;
    bool window = false;
    std::string screen = "stages";
    std::optional<std::string> token, against, corrupted, patched;
    analysis::ReadingOptions reading;
    bool log_colours = false;
};

struct PictureSize {
    int width, height;
};

PictureSize parse_size(const RenderOptions& options) {
    if (!options.size)
        return options.window ? PictureSize{1600, 1000} : PictureSize{960, 848};
    int width = 0, height = 0;
    char cross = 0, rest = 0;
    if (std::sscanf(options.size->c_str(), "%d%c%d%c", &width, &cross, &height, &rest) != 3 || cross != 'x' ||
        width < 200 || height < 200 || width > 16384 || height > 16384)
        throw Error(ErrorKind::usage,
                    "--size " + *options.size +
                        " is not WIDTHxHEIGHT with each from 200 to 16384; write for example 1600x1000");
    return {width, height};
}

/// What can be shown: stages of attention and, of a checkpoint, those around it.
struct Offered {
    ProblemParts parts;
    app::Walk walk = {};
    std::vector<TensorId> around = {};

    bool has(TensorId id) const {
        return is_stage(id) ? has_tensor(id, parts)
                            : std::ranges::count(around, id) > 0 && walk.has(tensor_info(id).group);
    }
};

Offered offered_by(const app::Document& document, std::int64_t layer) {
    Offered offered{.parts = document.problem.parts()};
    if (!document.is_checkpoint())
        return offered;
    offered.walk = app::walk_of(*document.part(), layer);
    const checkpoint::Model& model = *document.part()->model->model;
    for (const auto& stages : {checkpoint::first_stages(model.architecture()),
                               checkpoint::layer_stages(model.architecture(), layer),
                               checkpoint::last_stages(model.architecture(), model.has_head())})
        offered.around.insert(offered.around.end(), stages.begin(), stages.end());
    return offered;
}

std::string names_of_stages(const Offered& offered) {
    std::string names;
    for (const auto& table : {stage_table(), block_table()})
        for (const TensorInfo& info : table)
            if (offered.has(info.id))
                names += (names.empty() ? "" : ", ") + std::string(info.name);
    for (int n = 0; n < stop_count; ++n)
        if (const auto stop = static_cast<StageGroup>(n); !is_around(stop) || offered.walk.has(stop))
            if (const std::string label(group_info(stop).label);
                !find_stage(label) && !find_block_stage(label))
                names += ", " + label;
    return names;
}

/// Sets the stop of the strip and the view for a stage.
void show_stage(app::ViewState& view, const std::string& name, const Offered& offered) {
    auto id = find_stage(name);
    if (!id)
        id = find_block_stage(name);
    const auto stop = find_stop(name);
    if ((!id || !offered.has(*id)) && stop && (!is_around(*stop) || offered.walk.has(*stop))) {
        view.group = *stop;
        return;
    }
    if (!id || !offered.has(*id))
        fail_input("there is no stage \"" + name + "\"" +
                   (offered.walk.whole_block() ? " in this layer" : "") + "; the stages are " +
                   names_of_stages(offered));
    view.group = tensor_info(*id).group;
    if (*id == TensorId::k)
        view.projection = app::Projection::k;
    if (*id == TensorId::v)
        view.projection = app::Projection::v;
    if (*id == TensorId::weights_mean)
        view.heads_view = app::HeadsView::mean;
}

app::ViewState view_of(const RenderOptions& options, const Dims& dims, const Offered& offered) {
    app::ViewState view;
    view.walk = offered.walk;
    show_stage(view, options.stage.value_or("weights"), offered);
    view.dark = options.theme == "dark";
    if (options.head < 0 || options.head >= dims.H)
        fail_input("--head " + std::to_string(options.head) +
                   ": there is no such head; heads are numbered 0 to " + std::to_string(dims.H - 1));
    view.head = options.head;
    if (options.row && (*options.row < 0 || *options.row >= dims.Tq))
        fail_input("--row " + std::to_string(*options.row) +
                   ": there is no such row; rows are numbered 0 to " + std::to_string(dims.Tq - 1));
    view.row = options.row.value_or(-1);
    constexpr std::string_view ways[] = {"heatmap", "arcs", "text", "graph"};
    view.weights_view =
        static_cast<app::WeightsView>(std::ranges::find(ways, options.weights_view) - std::begin(ways));
    constexpr std::string_view heads[] = {"each", "difference", "mean"};
    if (options.heads != "each")
        view.heads_view =
            static_cast<app::HeadsView>(std::ranges::find(heads, options.heads) - std::begin(heads));
    app::clamp_to(view, dims);
    return view;
}

app::ViewState view_of(const RenderOptions& options, const app::Document& document) {
    return view_of(options, document.problem.dims, offered_by(document, options.layer));
}

/// Sets the filters of the weights. Refuses a filter that would change nothing, so that nobody mistakes the
/// picture for a filtered one.
void read_weights(app::Program& program, const RenderOptions& options) {
    const analysis::ReadingOptions &wanted = options.reading,
                                   possible = program.state().view.attention.possible;
    const std::string what = options.model ? "the prompt has" : "the file has";
    if (wanted.hide_special_tokens && !possible.hide_special_tokens)
        fail_input("--hide-special-tokens: " + what + " no tokens like [CLS] or <s>; leave it out");
    if (wanted.merge_words && !possible.merge_words)
        fail_input("--merge-words: " + what + " no token that is marked as a piece of a word; leave it out");
    if (wanted.hide_first_token && !possible.hide_first_token)
        fail_input("--hide-first-token: " + what + " one key alone; leave it out");
    if (wanted.means && !possible.means)
        fail_input("--means: the " + std::string(options.model ? "checkpoint" : "file") +
                   " has one head of one layer; leave it out");
    program.act(app::ViewChange(app::AttentionChange(app::ReadWeights{wanted})));
    program.act(app::ViewChange(app::AttentionChange(app::SetLogColours{options.log_colours})));
    if (!program.state().error.empty())
        fail_input(program.state().error);
}

void check_layer(const RenderOptions& options, const AttentionInfo& info) {
    if (options.layer < 0 || options.layer >= info.L)
        fail_input("--layer " + std::to_string(options.layer) +
                   ": there is no such layer; layers are numbered 0 to " + std::to_string(info.L - 1));
}

/// Shows the weights of a file instead of the problem's own.
void show_attention(app::Program& program, const RenderOptions& options) {
    program.open_attention(format::open_attention_file(*options.attention));
    read_weights(program, options);
    const AttentionInfo& info = program.state().document->shown_weights()->info();
    check_layer(options, info);
    program.settle();
    app::ViewState view = view_of(options, *program.state().document);
    view.tab = program.state().view.tab;
    view.attention = program.state().view.attention;
    program.state().view = view;
    program.act(app::ViewChange(app::AttentionChange(app::OpenHead{options.layer, options.head})));
    program.act(
        app::ViewChange(app::AttentionChange(app::ShowScreen{app::find_screen(options.screen)->screen})));
}

/// Shows a page of a lesson in the left panel, with the page's problem and view.
void show_lesson(app::Program& program, const RenderOptions& options) {
    program.state().view.less_motion = true; // a picture shows the end of every animation
    program.act(app::LessonAction(app::OpenLesson{*options.lesson}));
    if (!program.state().error.empty())
        fail_input(program.state().error);
    const app::CourseState& course = program.state().course;
    const auto page = [&](const char* option, int wanted, int count, int before) {
        if (wanted < 1 || wanted > count)
            fail_input(std::string(option) + " " + std::to_string(wanted) + ": the lesson " +
                       *options.lesson + " has 1 to " + std::to_string(count));
        program.act(app::LessonAction(app::GoToPage{before + wanted}));
    };
    if (options.step)
        page("--step", *options.step, course.steps(), 0);
    if (options.question)
        page("--question", *options.question, course.questions(), course.steps());
    program.act(app::ViewChange(app::SetDark{options.theme == "dark"}));
    app::ViewState& view = program.state().view;
    view.apart = view.apart_target;
    view.joined = view.joined_target;
}

/// Opens the patch, then sets the gains layer by layer, with the commands that a user would send.
void edit_model(app::Program& program, const RenderOptions& options) {
    program.state().view.less_motion = true; // without the flash of an edit
    const auto settle = [&program] {
        program.settle();
        if (!program.state().error.empty())
            fail_input(program.state().error);
    };
    if (options.patch) {
        program.open_path(*options.patch);
        settle();
    }
    const checkpoint::Architecture& architecture =
        program.state().document->part()->model->model->architecture();
    for (const std::string& text : options.problem.gains()) {
        const ModelGain gain = parse_model_gain(text, architecture, options.layer);
        program.act(app::ViewChange(app::AttentionChange(app::ShowStack{gain.place.stack})));
        program.act(app::ViewChange(app::AttentionChange(app::OpenHead{gain.place.layer, gain.head})));
        settle();
        program.act(app::Command(app::SetGain{gain.head, gain.factor}));
        settle();
    }
}

analysis::PatchKind patch_kind(const std::string& id) {
    return std::ranges::find(analysis::patch_kinds(), id, &analysis::PatchKindInfo::id)->kind;
}

std::vector<std::string> screen_names() {
    std::vector<std::string> names;
    for (const app::NamedScreen& one : app::named_screens())
        names.emplace_back(one.name);
    return names;
}

/// Puts what --screen names on the canvas.
void show_screen(app::Program& program, const RenderOptions& options) {
    const auto change = [&](const app::AttentionChange& to) { program.act(app::ViewChange(to)); };
    using What = app::AskEffects::What;
    for (const auto& [word, what] : {std::pair(options.token, What::token), {options.against, What::against}})
        if (word)
            program.act(app::ModelAction(app::AskEffects{what, *word}));
    const app::NamedScreen& wanted = *app::find_screen(options.screen);
    change(app::ShowEffects{wanted.effects});
    change(app::ShowScreen{wanted.screen});
    if (wanted.screen != app::Screen::patching)
        return;
    program.act(app::ModelAction(app::AskPatching{.corrupted = options.corrupted.value_or("")}));
    if (options.patched == "paths")
        program.act(app::ModelAction(app::AskPatching{.paths = true}));
    else if (options.patched)
        program.act(app::ModelAction(app::AskPatching{.kind = patch_kind(*options.patched)}));
}

/// Shows a layer of a checkpoint instead of a problem.
void show_model(app::Program& program, const RenderOptions& options) {
    Progress progress;
    const checkpoint::TextModelPtr model = checkpoint::open_text_model(*options.model);
    const checkpoint::Architecture& architecture = model->model->architecture();
    const std::optional<checkpoint::Stack> stack = options.stack.in(architecture, false);
    options.decoder.check(architecture);
    program.open_checkpoint(
        app::open_model(model, {options.text.value_or(""), options.decoder.text}, 0, {}, progress));
    program.settle();
    edit_model(program, options);
    if (architecture.encoder != nullptr)
        program.act(
            app::ViewChange(app::AttentionChange(app::ShowStack{stack.value_or(checkpoint::Stack::cross)})));
    program.settle();
    read_weights(program, options);
    const AttentionInfo& info = program.state().board->info();
    check_layer(options, info);
    const app::AttentionView attention = program.state().view.attention;
    const app::LeftTab tab = program.state().view.tab;
    Dims dims = program.state().document->problem.dims;
    dims.H = info.H; // includes means
    app::ViewState& view = program.state().view;
    view = view_of(options, dims, offered_by(*program.state().document, options.layer));
    view.tab = options.reading == analysis::ReadingOptions{} ? tab : app::LeftTab::heads;
    view.one_head = true;
    view.attention = attention;
    program.act(app::ViewChange(app::AttentionChange(app::OpenHead{options.layer, options.head})));
    show_screen(program, options);
}

std::string render_window(const RenderOptions& options, const app::DocumentPtr& document, PictureSize size,
                          figure::FigureFormat format) {
    if (format != figure::FigureFormat::png)
        throw Error(ErrorKind::usage,
                    "--window is drawn as pixels; give the output a name that ends in .png");
    app::Program program({.recipe = document == nullptr ? project::Recipe{} : document->recipe,
                          .device = options.problem.device(),
                          .wake = {},
                          .lesson_folders = lesson::lesson_folders(options.lessons),
                          .language = options.language});
    if (options.lesson)
        show_lesson(program, options);
    else if (options.attention)
        show_attention(program, options);
    else if (options.model)
        show_model(program, options);
    else {
        program.state().view = view_of(options, *document);
        if (!options.stage)
            program.begin();
    }
    program.settle();
    if (!program.state().error.empty())
        fail_input(program.state().error);
    if (!program.state().engines.notice.empty())
        throw Error(ErrorKind::machine, program.state().engines.notice);
    return app::png_bytes(app::render_offscreen(program, size.width, size.height, options.scale));
}

std::string render_stage(const RenderOptions& options, const app::DocumentPtr& document, PictureSize size,
                         figure::FigureFormat format) {
    const std::unique_ptr<engine::Engine> engine = engine::make_engine(options.problem.device());
    const auto trace =
        std::make_shared<const Trace>(static_cast<engine::Engine&>(*engine).run(document->problem));
    const app::Shown shown{document, trace, analysis::head_metrics(document->problem, *trace, 0)};
    return app::stage_figure(shown, view_of(options, *document),
                             {.format = format,
                              .scale = options.scale,
                              .width = static_cast<float>(size.width),
                              .height = static_cast<float>(size.height),
                              .fixed_width = options.size.has_value()});
}

void run_render(const RenderOptions& options) {
    const PictureSize size = parse_size(options);
    const figure::FigureFormat format =
        options.out == "-" ? figure::FigureFormat::png : figure::figure_format(options.out);
    if ((options.attention || options.model) && !options.window)
        throw Error(ErrorKind::usage, std::string(options.model ? "--model" : "--attention") +
                                          " is drawn in the window; give --window too");
    if (!options.attention && !options.model &&
        (options.reading != analysis::ReadingOptions{} || options.log_colours))
        throw Error(
            ErrorKind::usage,
            "--hide-first-token, --hide-special-tokens, --merge-words, --means and "
            "--log-colours are for weights of a file or a checkpoint; give --attention or --model too");
    if (options.screen != "stages" && !options.model && !(options.attention && options.screen == "atlas"))
        throw Error(ErrorKind::usage,
                    "--screen " + options.screen + " is of a checkpoint" +
                        (options.screen == "atlas" ? " or of a file of weights; give --model or --attention"
                                                   : "; give --model"));
    if ((options.lesson || options.step || options.question) && !(options.lesson && options.window))
        throw Error(ErrorKind::usage,
                    "a page of a lesson is drawn in the window; give --window and --lesson ID");
    if (options.step && options.question)
        throw Error(ErrorKind::usage, "--step and --question were given; give one of them");
    if (options.scale < 0.5F || options.scale > 8.0F)
        throw Error(ErrorKind::usage, "--scale must be from 0.5 to 8");
    const app::DocumentPtr document = options.model ? nullptr : options.problem.read();
    write_file_atomically(options.out, options.window ? render_window(options, document, size, format)
                                                      : render_stage(options, document, size, format));
}

} // namespace

void add_render(CLI::App& program) {
    CLI::App& command =
        *program.add_subcommand("render", "draw a stage or the whole window, with no display");
    const auto options = std::make_shared<RenderOptions>();
    options->problem.add_to(command, false);
    command.add_option(
        "--stage", options->stage,
        "the stage to draw, by the name that trace uses or that the strip of stages has, such as "
        "split (default: weights; with --window, as the program opens)");
    command.add_flag("--window", options->window, "draw the whole window of the program (PNG only)");
    command.add_option("--size", options->size,
                       "WIDTHxHEIGHT in logical pixels (default 960x848; 1600x1000 with --window)");
    command.add_option("--theme", options->theme, "light or dark")->check(CLI::IsMember({"light", "dark"}));
    command.add_option("--scale", options->scale, "pixels of a PNG per logical pixel (default 1)");
    command.add_option("--attention", options->attention,
                       "with --window: show attention weights of this .npy or .safetensors file");
    CLI::Option* const model =
        command
            .add_option("--model", options->model,
                        "with --window: show this checkpoint folder or GGUF file, or pocket")
            ->transform(checkpoint::model_folder)
            ->excludes("--attention");
    exclude_problem(command, *model);
    model->excludes(command.get_option("--temperature"));
    command
        .add_option("--text", options->text,
                    "with --model: the prompt; ids such as 12 7 30 if the folder has no tokenizer")
        ->needs(model);
    options->decoder
        .add_text_to(command, "Options",
                     "with --model: what the decoder of an encoder-decoder reads (default: a dozen tokens "
                     "that it writes itself)")
        ->needs(model);
    options->stack.add_to(command, "Options")->needs(model);
    command
        .add_option("--patch", options->patch, "with --model: apply the edits of this file to the checkpoint")
        ->needs(model);
    CLI::Option* const screen =
        command
            .add_option(
                "--screen", options->screen,
                "with --model: stages, atlas (all heads by their scores; with --attention too), "
                "effects (what every head does to the prediction), ablated (what is lost without it), "
                "averaged (with its mean output), patching (see --corrupted), circuits or why (the "
                "largest score of --row taken apart)")
            ->check(CLI::IsMember(screen_names()));
    command
        .add_option("--corrupted", options->corrupted,
                    "with --screen patching: the second prompt, which runs with activations of --text")
        ->needs(screen);
    std::vector<std::string> kinds{"paths"};
    for (const analysis::PatchKindInfo& info : analysis::patch_kinds())
        kinds.emplace_back(info.id);
    command
        .add_option(
            "--patched", options->patched,
            "with --screen patching: what is patched, or paths: from the open head (default: residual)")
        ->check(CLI::IsMember(kinds))
        ->needs(screen);
    command.add_option("--token", options->token, "with --screen: the token whose logit is taken apart")
        ->needs(screen);
    command.add_option("--against", options->against, "with --screen: the token whose logit is taken off")
        ->needs(screen);
    command.add_option("--layer", options->layer,
                       "with --attention or --model: the layer of the open head (default 0)");
    command.add_flag("--hide-first-token", options->reading.hide_first_token,
                     "with --attention or --model: leave out the weights on key 0 and renormalise the rows");
    command.add_flag(
        "--hide-special-tokens", options->reading.hide_special_tokens,
        "with --attention or --model: leave out the rows and columns of [CLS], <s> and similar tokens, and "
        "renormalise the rows");
    command.add_flag(
        "--merge-words", options->reading.merge_words,
        "with --attention or --model: sum the weights on the pieces of a word, average those from them");
    command.add_flag(
        "--means", options->reading.means,
        "with --attention or --model: add the means as one more head (--head H) and one more layer "
        "(--layer L)");
    command.add_flag("--log-colours", options->log_colours,
                     "with --attention or --model: colours by the logarithm of a weight");
    command.add_option("--lesson", options->lesson,
                       "with --window: show the lesson with this id, with the problem and view of its page");
    command.add_option("--step", options->step, "with --lesson: a step, from 1 (default: its opening)");
    command.add_option("--question", options->question, "with --lesson: a question of the quiz, from 1");
    command.add_option("--lessons", options->lessons, "a folder with more lessons");
    command.add_option("--language", options->language, "which translation of the lessons, such as de")
        ->capture_default_str();
    command.add_option("--head", options->head, "the head in focus (default 0)");
    command.add_option("--row", options->row, "stop at this query row");
    command.add_option("--view", options->weights_view, "weights as heatmap, arcs, text or graph")
        ->check(CLI::IsMember({"heatmap", "arcs", "text", "graph"}));
    command.add_option("--show-heads", options->heads, "each head, the difference of two, or their mean")
        ->check(CLI::IsMember({"each", "difference", "mean"}));
    command
        .add_option("-o,--output", options->out,
                    "the .png, .svg or .pdf file to write; - for a PNG on standard output")
        ->required();
    command.callback([options] { run_render(*options); });
}

} // namespace headscope::cli
