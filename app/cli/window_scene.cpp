#include "app/cli/window_scene.h"

#include "app/cli/diff/scene_model.h"
#include "app/cli/language_option.h"
#include "app/cli/usage.h"
#include "app/session/checkpoint_work.h"
#include "app/state/files/choice_names.h"
#include "app/state/find_step.h"
#include "app/state/screens/flow.h"
#include "app/state/screens/questions.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/format/attention_file.h"
#include "core/lesson/library.h"
#include "core/manual/manual.h"
#include "core/trace/find_stop.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <span>
#include <utility>
#include <vector>

namespace headscope::cli {

namespace {

/// Throws the program's error, if there is one.
void check_error(const app::Program& program) {
    const std::string& error = program.state().error;
    if (!error.empty())
        throw Error(is_memory_shortage_message(error) ? ErrorKind::machine : ErrorKind::input, error);
}

/// The tensors that can be shown: stages of attention and, for a checkpoint, those around it.
struct Offered {
    ProblemParts parts;
    app::StepStrip strip = {};
    std::vector<TensorId> around = {};

    bool has(TensorId id) const {
        return is_stage(id)
                   ? has_tensor(id, parts)
                   : std::ranges::count(around, id) > 0 && app::find_step(strip, tensor_info(id).name);
    }
};

Offered offered_by(const app::Document& document, checkpoint::Stack stack, std::int64_t layer) {
    Offered offered{.parts = document.problem.parts()};
    if (!document.is_checkpoint())
        return offered;
    offered.strip = app::step_strip_of(*document.part(), stack, layer);
    const checkpoint::ModelStages& stages = document.part()->model->model->stages();
    for (const auto& ids :
         {stages.before_layers(stack), stages.in_layer({stack, layer}), stages.after_layers(stack)})
        offered.around.insert(offered.around.end(), ids.begin(), ids.end());
    return offered;
}

std::string names_of_stages(const Offered& offered) {
    std::string names;
    for (const auto& table : {stage_table(), block_table()})
        for (const TensorInfo& info : table)
            if (offered.has(info.id))
                names += (names.empty() ? "" : ", ") + std::string(info.name);
    for (int n = 0; n < stop_count; ++n)
        if (const auto step = static_cast<StageGroup>(n); !is_around(step) || offered.strip.has(step))
            if (const std::string label(group_info(step).label);
                !find_stage(label) && !find_block_stage(label))
                names += ", " + label;
    return names;
}

/// Sets the step of the strip and the view for a stage.
void show_stage(app::ViewState& view, const std::string& name, const Offered& offered) {
    auto id = find_stage(name);
    if (!id)
        id = find_block_stage(name);
    const auto step = find_stop(name);
    if ((!id || !offered.has(*id)) && step && (!is_around(*step) || offered.strip.has(*step))) {
        view.group = *step;
        return;
    }
    if (!id || !offered.has(*id))
        fail_input("there is no stage \"" + name + "\"" +
                   (offered.strip.whole_block() ? " in this layer" : "") + "; the stages are " +
                   names_of_stages(offered));
    view.group = app::find_step(offered.strip, name).value_or(tensor_info(*id).group);
    if (*id == TensorId::k)
        view.projection = app::Projection::k;
    if (*id == TensorId::v)
        view.projection = app::Projection::v;
    if (*id == TensorId::weights_mean)
        view.heads_view = app::HeadsView::mean;
}

app::ScoreScale score_scale(const SceneOptions& options) {
    return app::choice_called<app::ScoreScale>(options.score_colours, app::score_scale_names);
}

app::ViewState view_with(const SceneOptions& options, const Dims& dims, const Offered& offered) {
    app::ViewState view;
    view.step_strip = offered.strip;
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
    if (options.screen == "flow")
        view.flow.word = std::exchange(view.row, -1);
    view.weights_view = app::choice_called<app::WeightsView>(options.weights_view, app::weights_view_names);
    view.attention.score_scale = score_scale(options);
    if (options.heads != "each") // a stage may have chosen the mean
        view.heads_view = app::choice_called<app::HeadsView>(options.heads, app::heads_view_names);
    view.colour_map = app::choice_called<app::ColourMap>(options.colours, app::colour_map_names);
    view.numbers = options.numbers == "on";
    view.same_scale = options.colour_scale == "same";
    if (options.compared_head && (*options.compared_head < 0 || *options.compared_head >= dims.H))
        fail_input("--compared-head " + std::to_string(*options.compared_head) +
                   ": there is no such head; heads are numbered 0 to " + std::to_string(dims.H - 1));
    view.compared_head = options.compared_head.value_or(view.compared_head);
    app::clamp_to(view, dims);
    return view;
}

} // namespace

app::ViewState view_of(const SceneOptions& options, const app::Document& document) {
    return view_with(options, document.problem.dims,
                     offered_by(document, checkpoint::Stack::own, options.layer));
}

PictureSize parse_size(const std::optional<std::string>& size, PictureSize usual) {
    if (!size)
        return usual;
    int width = 0, height = 0;
    char cross = 0, rest = 0;
    if (std::sscanf(size->c_str(), "%d%c%d%c", &width, &cross, &height, &rest) != 3 || cross != 'x' ||
        width < 200 || height < 200 || width > 16384 || height > 16384)
        fail_input("--size " + *size +
                   " is not WIDTHxHEIGHT with each from 200 to 16384; write for example 1600x1000");
    return {width, height};
}

void add_reading_options(CLI::App& command, SceneOptions& options, const std::string& where) {
    for (const analysis::ReadingInfo& reading : analysis::readings()) {
        std::string does(reading.does.english); // a sentence in the window, part of a sentence here
        does.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(does.front())));
        // A file of weights has no values, whose norms would be the factors.
        const bool needs_values = reading.option == &analysis::ReadingOptions::norm_weighted;
        command.add_flag(app::flag_of(reading), options.reading.*reading.option,
                         (needs_values ? "with --model: " : where) + does);
    }
    command.add_flag("--log-colours", options.log_colours, where + "colors by the logarithm of a weight");
}

namespace {

/// Sets the options for the weights. Rejects an option that would change nothing, so that the picture is not
/// mistaken for a transformed one.
void read_weights(app::Program& program, const SceneOptions& options) {
    const analysis::ReadingOptions &wanted = options.reading,
                                   possible = program.state().view.attention.possible;
    for (const analysis::ReadingInfo& reading : analysis::readings())
        if (wanted.*reading.option && !(possible.*reading.option))
            fail_input(app::flag_of(reading) + ": the " +
                       (options.model ? "checkpoint on this prompt" : "file") + " has " +
                       std::string(reading.lacks.english) + "; leave it out");
    program.act(app::SetReadingOptions{wanted});
    program.act(app::SetLogColours{options.log_colours});
    check_error(program);
}

void check_layer(const SceneOptions& options, const AttentionInfo& info) {
    if (options.layer < 0 || options.layer >= info.L)
        fail_input("--layer " + std::to_string(options.layer) +
                   ": there is no such layer; layers are numbered 0 to " + std::to_string(info.L - 1));
}

/// Shows the weights of a file instead of those of the attention input.
void show_attention(app::Program& program, const SceneOptions& options) {
    program.open_attention(format::open_attention_file(
        *options.attention, {.part = options.stack.name().value_or(""), .text = options.batch}));
    read_weights(program, options);
    const AttentionInfo& info = program.state().document->shown_weights()->info();
    check_layer(options, info);
    program.settle();
    app::ViewState view = view_of(options, *program.state().document);
    view.tab = program.state().view.tab;
    view.attention = program.state().view.attention;
    program.state().view = view;
    program.act(app::OpenHead{options.layer, options.head});
    program.act(app::ShowScreen{app::find_screen(options.screen)->screen});
}

/// Shows a page of a lesson in the left panel, with the page's input and view.
void show_lesson(app::Program& program, const SceneOptions& options) {
    program.state().view.reduced_motion = true; // a picture shows the end of every animation
    program.act(app::OpenLesson{*options.lesson});
    check_error(program);
    const app::CourseState& course = program.state().course;
    const auto page = [&](const char* option, int wanted, int count, int before) {
        if (wanted < 1 || wanted > count)
            fail_input(std::string(option) + " " + std::to_string(wanted) + ": the lesson " +
                       *options.lesson + " has 1 to " + std::to_string(count));
        program.act(app::GoToPage{before + wanted});
    };
    if (options.step)
        page("--step", *options.step, course.steps(), 0);
    if (options.question)
        page("--question", *options.question, course.questions(), course.steps());
    program.act(app::SetDark{options.theme == "dark"});
    app::ViewState& view = program.state().view;
    view.apart = view.apart_target;
    view.joined = view.joined_target;
}

/// Sets the head gains layer by layer, with the commands that a user would send.
void edit_model(app::Program& program, const SceneOptions& options) {
    program.state().view.reduced_motion = true; // without the flash of an edit
    const auto settle = [&program] {
        program.settle();
        check_error(program);
    };
    const checkpoint::ModelConfig& config = program.state().document->part()->model->model->config();
    for (const std::string& text : options.problem.gains()) {
        const ModelGain gain = parse_model_gain(text, config, options.layer);
        program.act(app::ShowStack{gain.place.stack});
        program.act(app::OpenHead{gain.place.layer, gain.head});
        settle();
        program.act(app::SetGain{gain.head, gain.factor});
        settle();
    }
    program.state().earlier = {}; // the picture shows the edited model alone
}

analysis::PatchKind patch_kind(const std::string& id) {
    return std::ranges::find(analysis::patch_kinds(), id, &analysis::PatchKindInfo::id)->kind;
}

/// Opens the screen of --screen.
void show_screen(app::Program& program, const SceneOptions& options) {
    using What = app::AskEffects::What;
    for (const auto& [word, what] : {std::pair(options.token, What::token), {options.against, What::against}})
        if (word)
            program.act(app::AskEffects{what, *word});
    const app::NamedScreen& wanted = *app::find_screen(options.screen);
    program.act(app::ShowEffects{wanted.effects});
    program.act(app::ShowScreen{wanted.screen});
    if (wanted.screen == app::Screen::circuits && options.token)
        program.act(app::AskCircuits{.word = *options.token});
    if (wanted.screen != app::Screen::patching)
        return;
    if (options.corrupted || program.state().model.patching.corrupted.empty())
        program.act(app::AskPatching{.corrupted = options.corrupted.value_or("")});
    if (options.patched == "paths")
        program.act(app::AskPatching{.paths = true});
    else if (options.patched)
        program.act(app::AskPatching{.kind = patch_kind(*options.patched)});
}

/// Shows a layer of a checkpoint instead of an attention input.
void show_model(app::Program& program, const SceneOptions& options) {
    Progress progress;
    SceneModel opened = open_scene_model(options, progress);
    const checkpoint::TextModelPtr model = opened.text;
    const checkpoint::ModelConfig& config = model->model->config();
    const std::optional<checkpoint::Stack> stack = options.stack.in(config, false);
    options.decoder.check(config);
    app::ModelTexts texts{.prompt = options.text.value_or(""),
                          .target = options.decoder.text,
                          .pair = options.second.text.value_or("")};
    if (model->tokenizer != nullptr)
        options.second.check(model->pairs, config);
    checkpoint::ModelEdits edits = std::move(opened.edits);
    std::optional<app::Questions> asked;
    if (options.patch) {
        const project::OpenedCheckpointProject work = project::open_checkpoint_project(*options.patch);
        edits = project::edits_of_project(*model->model, work);
        asked = app::read_questions(work.project.questions, config.vocab);
        // A project stores the token ids of its own text.
        const bool own = !work.project.ids.empty() && options.text == work.project.text &&
                         texts.pair == work.project.text_pair;
        if (own && options.decoder.text.value_or(work.project.decoder_text) == work.project.decoder_text)
            texts = app::texts_of(work.project);
    }
    if (asked) // the decision refers to the project's own prompt
        asked->one_text = asked->one_text && asked->prompt == texts.prompt;
    if (model->tokenizer != nullptr && texts.pair.empty() && !(asked && asked->one_text))
        warn_of_typed_pair(*model->tokenizer, model->pairs, texts.prompt);
    program.open_checkpoint(
        with_comparison(app::open_model(model, texts, 0, edits, progress), opened.compared));
    if (asked)
        app::restore_questions(program.state().model, *asked);
    program.settle();
    edit_model(program, options);
    if (config.encoder != nullptr)
        program.act(app::ShowStack{stack.value_or(checkpoint::Stack::cross)});
    program.settle();
    read_weights(program, options);
    const AttentionInfo& info = program.state().head_grid->info();
    check_layer(options, info);
    const app::AttentionView attention = program.state().view.attention;
    const app::LeftTab tab = program.state().view.tab;
    Dims dims = program.state().document->problem.dims;
    dims.H = info.H; // includes means
    app::ViewState& view = program.state().view;
    view = view_with(options, dims, offered_by(*program.state().document, attention.stack, options.layer));
    view.tab = options.reading == analysis::ReadingOptions{} ? tab : app::LeftTab::heads;
    view.one_head = true;
    view.attention = attention;
    if (opened.compared != nullptr) {
        program.act(app::MarkBaseline{true});
        view.compare = app::Compare::difference;
    }
    program.act(app::OpenHead{options.layer, options.head});
    if (options.row && options.screen == "flow")
        program.act(app::PredictAt{*options.row});
    show_screen(program, options);
}

/// Opens the manual.
void show_manual(app::Program& program, const std::string& asked) {
    if (asked.starts_with('?'))
        program.act(app::SearchManual{asked.substr(1)});
    else if (asked == "screen")
        program.act(app::OpenContextHelp{});
    else
        program.act(app::OpenManual{
            asked == "contents"
                ? manual::Place{}
                : *manual::place_of(asked + (asked.find('#') == std::string::npos ? "#" : ""))});
}

} // namespace

void require_room_for_window() {
    // Including fonts, glyphs and Mesa's software renderer.
    constexpr std::uint64_t least = 140'000'000;
    if (memory_is_limited())
        require_memory(least, "a window", "raise --memory, or draw a stage without --window");
}

std::unique_ptr<app::Program> make_program(const SceneOptions& options, const app::DocumentPtr& document) {
    require_room_for_window();
    auto program = std::make_unique<app::Program>(
        app::ProgramOptions{.recipe = document == nullptr ? project::Recipe{} : document->recipe,
                            .device = options.problem.device(),
                            .lesson_folders = lesson::lesson_folders(options.lessons),
                            .language = options.language});
    program->state().shows_run_time = false;
    return program;
}

void check_program(app::Program& program) {
    program.settle();
    check_error(program);
    if (!program.state().engines.fallback_reason.empty())
        throw Error(ErrorKind::machine, program.state().engines.fallback_reason);
}

void show_flow_instant(const SceneOptions& options, const app::Shown& shown, app::ViewState& view) {
    app::follow_flow(shown, view);
    if (options.at)
        view.flow.time = static_cast<float>(*options.at) * view.flow.story.duration();
}

void show_scene(app::Program& program, const SceneOptions& options, const app::DocumentPtr& document) {
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
        show_screen(program, options);
    }
    program.act(app::SetScoreScale{score_scale(options)});
    if (options.sentences) {
        check_program(program);
        program.act(app::OpenSentences{*options.sentences});
        program.state().notice.clear();
    }
    if (options.manual) {
        check_program(program);
        show_manual(program, *options.manual);
    }
    if (options.present) {
        program.state().view.reduced_motion = true; // a picture shows the end of every animation
        program.act(app::Present{});
    }
    check_program(program);
    program.state().view.arrival = 1; // a picture, and a film's first one, has arrived
    show_flow_instant(options, program.state().shown, program.state().view);
}

namespace {

CLI::IsMember member_of(std::span<const std::string_view> names) {
    return CLI::IsMember(std::vector<std::string>(names.begin(), names.end()));
}

} // namespace

void add_scene_options(CLI::App& command, SceneOptions& options, const std::string& where) {
    options.problem.add_to(command, false);
    command.add_option("--theme", options.theme, "light or dark")->check(CLI::IsMember({"light", "dark"}));
    command.add_option("--scale", options.scale, "pixels of a PNG per logical pixel (default 1)");
    CLI::Option* const model =
        command.add_option("--model", options.model, "show this checkpoint folder or GGUF file, or pocket")
            ->transform(checkpoint::model_folder);
    add_ignore_unknown(command);
    add_base(command);
    exclude_problem(command, *model);
    model->excludes(command.get_option("--temperature"));
    CLI::Option* const text =
        command
            .add_option("--text", options.text,
                        "with --model: the prompt; ids such as 12 7 30 if the folder has no tokenizer")
            ->needs(model);
    options.second
        .add_to(command, "with --text: a second text, for a tokenizer that has a form for two texts")
        ->needs(text);
    options.decoder
        .add_text_to(command, "Options",
                     "with --model: what the decoder of an encoder-decoder reads (default: a dozen tokens "
                     "that it writes itself)")
        ->needs(model);
    options.stack.add_to(command, "Options")->needs(model);
    command
        .add_option("--patch", options.patch, "with --model: apply the edits of this file to the checkpoint")
        ->needs(model);
    command.add_option("--lessons", options.lessons, "a folder with more lessons");
    add_language_option(command, options.language);
    command.add_option("--sentences", options.sentences,
                       where + "a text file with one sentence a line; the first one is shown");
    command.add_option(
        "--head", options.head,
        "the head in focus (default 0; a figure of a checkpoint's layer or of a file shows all "
        "heads without it)");
    command.add_option("--view", options.weights_view, "weights as heatmap, arcs, text or graph")
        ->check(member_of(app::weights_view_names));
    command
        .add_option("--score-colours", options.score_colours,
                    "color scores by row, by head, or all heads on one scale (default row)")
        ->check(member_of(app::score_scale_names));
    command.add_option("--show-heads", options.heads, "each head, the difference of two, or their mean")
        ->check(member_of(app::heads_view_names));
    command.add_option("--compared-head", options.compared_head,
                       "with --show-heads difference: the head that is subtracted");
    command
        .add_option("--colours", options.colours,
                    "colors of cells: by head, neutral, viridis, cividis or magma (default head)")
        ->check(member_of(app::colour_map_names));
    command
        .add_option("--colour-scale", options.colour_scale,
                    "the same color scale for all heads, or each its own (default same)")
        ->check(CLI::IsMember({"same", "own"}));
    command.add_option("--numbers", options.numbers, "numbers in cells: on or off (default on)")
        ->check(CLI::IsMember({"on", "off"}));
}

void check_scale(const SceneOptions& options) {
    if (options.scale < 0.5F || options.scale > 8.0F)
        fail_input("--scale must be from 0.5 to 8");
}

} // namespace headscope::cli
