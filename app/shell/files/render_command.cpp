#include "app/shell/files/render_command.h"

#include "app/draw/kit/format.h"
#include "app/draw/pages/stage_figure.h"
#include "app/state/files/choice_names.h"
#include "app/state/model_document.h"
#include "app/state/picture_choice.h"
#include "app/state/prompts/prompt_list.h"
#include "app/state/screens/atlas.h"
#include "app/state/screens/questions.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/patch_file.h"

namespace headscope::app {

namespace {

using Words = std::vector<std::string>;

[[noreturn]] void fail_unsaved() {
    fail_input(
        tr("render_command.save_first",
           "A command cannot describe this document as it is on screen: save it as a project, then copy the "
           "command again."));
}

/// Returns the project's file if it holds the document as it is on screen; else empty.
std::string saved_project(const FilesState& files) {
    return files.unsaved || files.lesson || !files.path.ends_with(".headscope") ? "" : files.path;
}

void add_value(Words& words, const std::string& option, const std::string& value) {
    words.insert(words.end(), {option, value});
}

/// "--text=-5": a value that begins with a hyphen belongs to its option.
void add_text(Words& words, const std::string& option, const std::string& text) {
    if (text.starts_with('-'))
        words.push_back(option + "=" + text);
    else
        add_value(words, option, text);
}

/// The sentence is added to `last`, the words after all options, if it would be read as an option.
void add_experiment(Words& words, Words& last, const AppState& state) {
    const project::Recipe& recipe = state.document->recipe;
    if (const std::string path = saved_project(state.files); !path.empty())
        return add_value(words, "--project", path);
    if (!recipe.edits.empty() || !recipe.painted_mask.empty() || !recipe.extra_mask.empty() ||
        recipe.base != nullptr || recipe.identity_W_O || recipe.sentence == "-") // reads standard input
        fail_unsaved();
    if (recipe.sentence.starts_with('-'))
        add_value(last, "--", recipe.sentence);
    else if (!recipe.sentence.empty())
        words.push_back(recipe.sentence);
    add_value(words, "--preset", recipe.preset);
    if (!recipe.kv_sentence.empty())
        add_text(words, "--kv-sentence", recipe.kv_sentence);
    using project::MaskChoice;
    if (recipe.mask != MaskChoice::none)
        add_value(words, "--mask",
                  recipe.mask == MaskChoice::causal ? "causal"
                  : recipe.mask == MaskChoice::causal_window
                      ? R"([{"kind":"sliding_window_causal","window":)" +
                            std::to_string(project::causal_window_width) + "}]"
                      : R"([{"kind":"sliding_window_symmetric","half_width":)" +
                            std::to_string(project::symmetric_half_width) + "}]");
    for (const auto& [option, count] : {std::pair("--heads", recipe.H), {"--kv-heads", recipe.Hkv}})
        if (count > 0)
            add_value(words, option, std::to_string(count));
    if (recipe.seed != 1)
        add_value(words, "--seed", std::to_string(recipe.seed));
    if (recipe.temperature != 1)
        add_value(words, "--temperature", shortest_number(recipe.temperature));
    for (std::size_t h = 0; h < recipe.gains.size(); ++h)
        if (recipe.gains[h] != 1)
            add_value(words, "--gain", std::to_string(h) + "=" + shortest_number(recipe.gains[h]));
}

/// The position that the user chose for the prediction; none: the one that `render` takes.
std::optional<std::int64_t> chosen_position(const AppState& state) {
    const ModelState& model = state.model;
    const checkpoint::TextModel& texts = *state.document->part()->model;
    if (!model.position || model.run == nullptr)
        return std::nullopt;
    const std::int64_t chosen = position_of(*model.run, texts, model.position);
    return chosen == position_of(*model.run, texts, std::nullopt) ? std::nullopt : std::optional(chosen);
}

/// Returns true if the picture has numbers of other prompts, or of the baseline A.
bool shows_mean_or_baseline(const AppState& state, Screen screen) {
    const PromptListState* const prompts = state.model.prompts.get();
    const Atlas* const atlas = state.shown.atlas.get();
    return (prompts != nullptr && prompts->shows_mean()) ||
           (screen == Screen::atlas && atlas != nullptr && atlas->side != Compare::now);
}

/// Returns true if the picture depends on a question that no option of `render` sets. `held`: the questions
/// in the project that the command names.
bool asks_more_than_options(const AppState& state, Screen screen, const Questions& held) {
    const ViewState& view = state.view;
    const ModelState& model = state.model;
    const CircuitsQuestion& circuits = model.circuits;
    const EffectsQuestion& effects = model.effects;
    if (screen == Screen::circuits &&
        (circuits.through_mlp != held.circuits.through_mlp || circuits.threshold != held.circuits.threshold ||
         (!circuits.token && held.circuits.token)))
        return true;
    if (screen == Screen::effects && effects.from_mean != held.effects.from_mean)
        return true;
    if ((screen == Screen::effects || screen == Screen::patching) &&
        ((!effects.token && held.effects.token) || (!effects.against && held.effects.against)))
        return true;
    const bool by_row = screen == Screen::flow || (screen == Screen::why && view.row < 0),
               at_position = screen == Screen::effects || (screen == Screen::circuits && !circuits.token) ||
                             (by_row && !chosen_position(state)) ||
                             // They show the row of the position.
                             (screen == Screen::stages && view.row < 0 &&
                              (is_around(view.group) || view.group == StageGroup::scores));
    if (!at_position || model.run == nullptr)
        return false;
    const checkpoint::TextModel& texts = *state.document->part()->model;
    return position_of(*model.run, texts, model.position) != position_of(*model.run, texts, held.position);
}

void add_checkpoint(Words& words, const AppState& state, Screen screen) {
    const Document& document = *state.document;
    const RunSpec& part = *document.part();
    const std::string path = saved_project(state.files);
    Questions held;
    if (!path.empty())
        held = read_questions(checkpoint::patch_questions(path), part.config().vocab).value_or(held);
    if (shows_mean_or_baseline(state, screen))
        fail_input(
            tr("render_command.mean_or_baseline",
               "A command draws the open prompt without its comparison: leave the mean over prompts, or "
               "show B, then copy the command again."));
    if (asks_more_than_options(state, screen, held))
        fail_unsaved();
    if (!path.empty()) {
        add_value(words, "--project", path);
    } else {
        if (!part.edits.empty() || part.written > 0)
            fail_unsaved();
        const std::string& folder = part.model->model->path();
        const std::string name = checkpoint::checkpoint_name(folder);
        const bool by_name = checkpoint::is_packaged(name) ? checkpoint::is_unpacked(folder)
                                                           : checkpoint::model_folder(name) == folder;
        add_value(words, "--model", by_name ? name : folder);
        add_text(words, "--text", part.prompt);
        if (!part.pair.empty())
            add_text(words, "--text-pair", part.pair);
        if (part.two_texts())
            add_text(words, "--decoder-text", part.target);
    }
    const std::string stack = stack_name(part.config(), state.view.attention.stack);
    if (!stack.empty())
        add_value(words, "--stack", stack);
}

void add_questions(Words& words, const AppState& state, Screen screen) {
    const Document& document = *state.document;
    if (!document.is_checkpoint())
        return;
    const ModelState& model = state.model;
    const checkpoint::TextModel& texts = *document.part()->model;
    const auto add_token = [&](const char* option, const std::optional<std::int64_t>& id) {
        if (!id)
            return;
        std::string word =
            texts.tokenizer == nullptr ? std::to_string(*id) : checkpoint::label_of(texts, *id);
        constexpr std::string_view blank = "·"; // marks a blank at the beginning
        if (texts.tokenizer != nullptr && word.starts_with(blank))
            word.erase(0, blank.size());
        add_text(words, option, word);
    };
    if (screen == Screen::circuits)
        return add_token("--token", model.circuits.token);
    if (screen != Screen::effects && screen != Screen::patching)
        return;
    add_token("--token", model.effects.token);
    add_token("--against", model.effects.against);
    if (screen != Screen::patching)
        return;
    add_text(words, "--corrupted", model.patching.corrupted);
    add_value(words, "--patched",
              model.patching.paths ? "paths" : std::string(analysis::info_of(model.patching.kind).id));
}

/// The head, the row and the look of the canvas.
void add_view(Words& words, const AppState& state, const PictureChoice& choice, Screen screen) {
    const ViewState& view = state.view;
    const Document& document = *state.document;
    if (screen == Screen::stages)
        add_value(words, "--stage", std::string(tensor_info(stage_on_canvas(view)).name));
    else
        add_value(words, "--screen", std::string(screen_name(view.attention)));
    if (document.has_head_grid())
        add_value(words, "--layer", std::to_string(view.attention.layer));
    if (document.has_head_grid() ? !(choice.all_heads && screen == Screen::stages) : view.head != 0)
        add_value(words, "--head", std::to_string(view.head));
    std::int64_t row = screen == Screen::flow ? view.flow.word : view.row;
    if (document.is_checkpoint() && (screen == Screen::flow || (screen == Screen::why && row < 0)))
        row = chosen_position(state).value_or(-1);
    if (row >= 0)
        add_value(words, "--row", std::to_string(row));
    if (screen == Screen::flow && view.flow.time > 0 && view.flow.time < view.flow.story.duration())
        add_value(words, "--at", shortest_number(view.flow.time / view.flow.story.duration()));
    if (view.weights_view != WeightsView::heatmap)
        add_value(words, "--view", std::string(choice_name(view.weights_view, weights_view_names)));
    if (view.heads_view != HeadsView::each && stage_on_canvas(view) != TensorId::weights_mean)
        add_value(words, "--show-heads", std::string(choice_name(view.heads_view, heads_view_names)));
    if (view.heads_view == HeadsView::difference)
        add_value(words, "--compared-head", std::to_string(view.compared_head));
    if (view.colour_map != ColourMap::head)
        add_value(words, "--colours", std::string(choice_name(view.colour_map, colour_map_names)));
    if (!view.same_scale)
        add_value(words, "--colour-scale", "own");
    if (!view.numbers)
        add_value(words, "--numbers", "off");
    if (view.attention.score_scale != ScoreScale::row)
        add_value(words, "--score-colours",
                  std::string(choice_name(view.attention.score_scale, score_scale_names)));
    for (const analysis::ReadingInfo& reading : analysis::readings())
        if (view.attention.reading.*reading.option)
            words.push_back(flag_of(reading));
    if (view.attention.log_colours && document.has_head_grid())
        words.emplace_back("--log-colours");
}

/// `vectors`: the file has no pixels, so that a width in pixels changes nothing.
void add_choice(Words& words, const PictureChoice& choice, bool vectors) {
    for (const PictureOption& option : picture_options())
        if (const int value = option.value(choice); value != option.value(PictureChoice()))
            add_value(words, std::string(option.flag),
                      std::string(option.values[static_cast<std::size_t>(value)].name));
    if (choice.unit == PictureUnit::times)
        add_value(words, "--scale", std::to_string(choice.times));
    else if (choice.unit != PictureUnit::px || !vectors)
        add_value(words, choice.unit == PictureUnit::pt ? "--font-size" : "--width",
                  width_text(choice) + std::string(unit_name(choice.unit)));
}

} // namespace

std::vector<std::string> render_words(const AppState& state, const PictureChoice& choice,
                                      const std::string& output) {
    const Document& document = *state.document;
    const Screen screen = screen_of(state.shown, state.view);
    Words words{"render"}, last;
    if (document.is_checkpoint())
        add_checkpoint(words, state, screen);
    else if (const GivenWeights* const given = document.given()) {
        const AttentionInfo& info = given->set->info();
        add_value(words, "--attention", info.source);
        if (info.choice.text)
            add_value(words, "--batch", std::to_string(*info.choice.text));
        if (!info.choice.part.empty())
            add_value(words, "--stack", info.choice.part);
    } else
        add_experiment(words, last, state);
    add_view(words, state, choice, screen);
    add_questions(words, state, screen);
    add_choice(words, choice, !output.ends_with(".png"));
    add_value(words, "-o", output);
    words.insert(words.end(), last.begin(), last.end());
    return words;
}

std::string shell_command(const std::vector<std::string>& words) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:@%+";
    std::string command = "headscope";
    for (const std::string& word : words) {
        command += ' ';
        if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
            command += word;
            continue;
        }
        command += '\'';
        for (const char c : word)
            command += c == '\'' ? std::string("'\\''") : std::string(1, c);
        command += '\'';
    }
    return command;
}

} // namespace headscope::app
