#include "app/shell/files/file_choosers.h"

#include "app/draw/kit/format.h"
#include "app/draw/pages/stage_figure.h"
#include "app/shell/files/exports.h"
#include "app/shell/film/window_film.h"
#include "app/state/model_document.h"
#include "app/state/screens/screen.h"
#include "app/views/given_weights.h"
#include "core/base/message.h"
#include "core/base/user_folders.h"
#include "core/checkpoint/files/packaged_models.h"

#include <algorithm>

namespace headscope::app {

namespace {

namespace fs = std::filesystem;

std::vector<FolderShortcut> folder_shortcuts(const std::vector<std::string>& recent) {
    const fs::path home = home_folder();
    std::error_code none;
    std::vector<FolderShortcut> all{{tr("file_choosers.home", "Home"), home}};
    const auto add = [&](const std::string& label, const fs::path& folder) {
        if (fs::is_directory(folder, none) &&
            std::ranges::find(all, folder, &FolderShortcut::folder) == all.end())
            all.push_back({label, folder});
    };
    add(tr("file_choosers.documents", "Documents"), home / "Documents");
    add(tr("file_choosers.desktop", "Desktop"), home / "Desktop");
    const fs::path here = fs::current_path(none);
    add(here.has_filename() ? here.filename().string() : here.string(), here);
    for (const std::string& path : recent) {
        if (checkpoint::is_unpacked(path))
            continue;
        const fs::path folder = fs::path(path).parent_path();
        add(folder.has_filename() ? folder.filename().string() : folder.string(), folder);
    }
    return all;
}

/// "gpt2-l5-first-hidden" for a file of weights.
std::string attention_stem(const AppState& state) {
    const AttentionSetPtr given = weights_without_stages(state);
    const AttentionInfo& info = given->info();
    const std::string text = info.choice.text ? "-text-" + std::to_string(*info.choice.text) : "";
    const std::string part = info.choice.part.empty() ? "" : "-" + info.choice.part;
    return file_stem(fs::path(info.title).stem().string()) + text + part + "-" +
           file_stem(
               open_layer_name(shows_transformed_weights(state) ? *state.shown.document : *state.document)) +
           reading_suffix(state.view.attention.reading);
}

/// The part of a file name that identifies the canvas: the tensor, the head of a map or the screen.
std::string name_on_canvas(Screen screen, const AppState& state) {
    if (screen == Screen::map)
        return "map-h" + std::to_string(state.shown.map == nullptr ? state.view.head : state.shown.map->head);
    if (screen != Screen::stages)
        return std::string(screen_name(state.view.attention));
    return std::string(tensor_info(stage_on_canvas(state.view)).name);
}

/// "1.8 M"
std::string parameters_text(std::int64_t count) {
    constexpr double million = 1e6, billion = 1e9;
    const auto exact = static_cast<double>(count);
    if (exact < million)
        return grouped(count);
    const double shown = exact / (exact < billion ? million : billion);
    return number(shown, shown < 10 ? 1 : 0) + (exact < billion ? " M" : " B");
}

OfferedModel offered(const checkpoint::LocalModel& model) {
    if (!model.problem.empty())
        return {model.name, model.path, tr("file_choosers.not_run", "does not run"),
                tr("file_choosers.not_run_2", "Does not run: {}", model.problem)};
    const std::string line = model.family + ", " + std::to_string(model.layers) + " × " +
                             std::to_string(model.H) + ", " + parameters_text(model.parameters);
    return {model.name, model.path, line, model_summary(model)};
}

} // namespace

const std::vector<std::string>& prompt_suffixes() {
    static const std::vector<std::string> all{".jsonl", ".csv", ".txt"};
    return all;
}

bool is_prompt_file(const Document& document, const std::string& path) {
    std::error_code ignored;
    return document.is_checkpoint() && fs::is_regular_file(path, ignored) &&
           std::ranges::any_of(prompt_suffixes(),
                               [&](const std::string& suffix) { return path.ends_with(suffix); });
}

std::vector<OfferedModel> cached_models() {
    std::vector<OfferedModel> models;
    std::ranges::transform(checkpoint::local_models(checkpoint::local_models_folder()),
                           std::back_inserter(models), offered);
    return models;
}

std::string model_summary(const checkpoint::LocalModel& model) {
    return model.family.empty()
               ? ""
               : model.family + ", " +
                     tr_n("common.layer", "{} layer", "{} layers", model.layers, grouped(model.layers)) +
                     " × " + tr_n("common.head_4", "{} head", "{} heads", model.H, grouped(model.H)) + ", " +
                     tr("common.parameters", "{} parameters", parameters_text(model.parameters)) + ", " +
                     bytes_text(static_cast<std::int64_t>(model.bytes));
}

OpenChooser make_chooser(PathPurpose purpose, const AppState& state, const fs::path& last_folder) {
    const FilesState& files = state.files;
    std::error_code none;
    FileChooser::Options options;
    const bool opens = purpose == PathPurpose::open || purpose == PathPurpose::find_model ||
                       purpose == PathPurpose::compare || purpose == PathPurpose::sentences ||
                       purpose == PathPurpose::prompts;
    options.saving = !opens;
    options.accept = opens ? tr("file_choosers.open_verb", "Open") : tr("common.save", "Save");
    options.folder = !files.path.empty()    ? fs::path(files.path).parent_path()
                     : !last_folder.empty() ? last_folder
                                            : fs::current_path(none);
    options.shortcuts = folder_shortcuts(files.recent);
    const std::string stem = weights_without_stages(state) != nullptr ? attention_stem(state)
                             : files.path.empty() ? file_stem(state.document->recipe.sentence)
                                                  : fs::path(files.path).stem().string();
    const Screen screen = screen_of(state.shown, state.view);
    const std::string stage = name_on_canvas(screen, state);
    std::vector<std::string> formats;
    FilmChoice film;
    if (state.course.open != nullptr)
        film = {.lesson = state.course.open->id, .of_lesson = true};
    switch (purpose) {
    case PathPurpose::open:
        options.title = tr("file_choosers.open_project_problem",
                           "Open a project, problem, weights, checkpoint, survey or lesson");
        options.suffixes = {project_suffix, ".npy", ".npz",  ".safetensors", ".gguf", ".bin",
                            ".pt",          ".pth", ".ckpt", ".json",        ".db",   ".md"};
        if (state.document->is_checkpoint())
            options.suffixes.insert(options.suffixes.end(), prompt_suffixes().begin(),
                                    prompt_suffixes().end());
        for (const std::string& name : checkpoint::packaged_models())
            options.models.push_back({name, name, tr("file_choosers.comes_program", "comes with the program"),
                                      tr("file_choosers.small_language_model", "A small language model")});
        break;
    case PathPurpose::find_model:
        options.title = tr("file_choosers.choose_model_project", "Choose the model");
        options.suffixes = {".gguf", ".safetensors", ".bin", ".pt", ".pth", ".ckpt"};
        break;
    case PathPurpose::compare:
        options.title = tr("file_choosers.choose_compared", "Choose a checkpoint to compare {} with",
                           state.document->title);
        options.accept = tr("file_choosers.compare", "Compare");
        options.suffixes = {".gguf", ".safetensors", ".bin", ".pt", ".pth", ".ckpt"};
        break;
    case PathPurpose::sentences:
        options.title = tr("file_choosers.choose_sentences", "Choose a text file with one sentence a line");
        options.suffixes = {".txt"};
        break;
    case PathPurpose::prompts:
        options.title = tr("file_choosers.choose_prompts", "Choose a file of prompts");
        options.suffixes = prompt_suffixes();
        break;
    case PathPurpose::save_project:
        options.title = tr("file_choosers.save_project", "Save the project");
        options.suffixes = {project_suffix};
        options.name = stem + project_suffix;
        if (!state.document->is_checkpoint())
            break;
        if (const std::string& model = state.document->part()->model->model->path();
            files.path.empty() && !checkpoint::is_unpacked(model))
            options.folder = fs::path(model).parent_path();
        options.suffixes = formats = {project_suffix, patch_suffix};
        options.name = files.path.empty() ? file_stem(state.document->title) + project_suffix
                                          : fs::path(files.path).filename().string();
        if (options.name.ends_with(patch_suffix)) // a patch file cannot store the text
            options.name = options.name.substr(0, options.name.size() - std::string(patch_suffix).size()) +
                           project_suffix;
        break;
    case PathPurpose::picture:
        options.title = tr("file_choosers.save_picture_view", "Save a picture of this view");
        options.suffixes = formats = picture_suffixes();
        options.name = stem + "-" + stage + ".png";
        break;
    case PathPurpose::numbers:
        options.title =
            shows_stage_numbers(screen) ? tr("file_choosers.save_numbers", "Save the numbers of {}", stage)
            : screen == Screen::map ? tr("file_choosers.save_seen_map", "Save the visible part of the map")
                                    : tr("file_choosers.save_table_screen", "Save the table of this view");
        options.suffixes = formats = number_suffixes(state.shown, state.view);
        options.name = stem + "-" + stage + formats.front();
        break;
    case PathPurpose::script:
        options.title = tr("file_choosers.save_pytorch_script", "Save a PyTorch script");
        options.suffixes = {".py"};
        options.name = stem + ".py";
        break;
    case PathPurpose::film:
        options.title = tr("file_choosers.record_film", "Record a film");
        options.accept = tr("file_choosers.record", "Record");
        options.suffixes = formats = film_suffixes();
        options.name = (film.of_lesson ? film.lesson : stem) + ".gif";
        break;
    }
    return {.purpose = purpose,
            .chooser = FileChooser(std::move(options)),
            .formats = std::move(formats),
            .film = std::move(film),
            .picture = {.choice = files.picture, .width = width_text(files.picture)}};
}

} // namespace headscope::app
