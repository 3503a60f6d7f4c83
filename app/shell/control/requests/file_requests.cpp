#include "app/shell/control/requests/requests.h"
#include "app/shell/film/window_film.h"
#include "app/views/files/file_views.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/files/packaged_models.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace headscope::app {

namespace {

void open_file(Program& program, const RequestValue& value) {
    value.allow({"path", "text", "text-pair", "decoder-text"});
    const RequestValue named = value.main("path");
    const std::string text = named.text();
    // The name of a packaged model is not a path.
    const std::string path = checkpoint::is_packaged(text) ? text : named.path();
    ModelTexts texts;
    if (const auto prompt = value.find("text"))
        texts.prompt = prompt->text();
    if (const auto pair = value.find("text-pair"))
        texts.pair = pair->text();
    if (const auto target = value.find("decoder-text"))
        texts.target = target->text();
    program.open_path(path, texts);
}

/// Returns the path if it has one of these endings.
std::string path_with_ending(const RequestValue& value, const std::vector<std::string>& endings) {
    const std::string path = value.path();
    if (std::ranges::none_of(endings, [&](const std::string& ending) { return path.ends_with(ending); }))
        fail_input(tr("files_writing.should_end", "{} should end in {}", path, joined(endings)));
    return path;
}

/// "180mm": a size and the unit at its end, which is one of two.
void set_picture_size(PictureChoice& choice, const RequestValue& value, std::span<const PictureUnit> units) {
    const std::string text = value.text();
    for (const PictureUnit unit : units)
        if (const std::string_view name = unit_name(unit); text.ends_with(name)) {
            choice.unit = unit;
            if (set_width(choice, text.substr(0, text.size() - name.size())))
                return;
        }
    fail_input(
        tr("file_requests.picture_size",
           "\"{}\" is not a valid size; give a width such as \"180mm\" or \"2000px\", or a font size such as "
           "\"8pt\"",
           text));
}

void write_requested_picture(Program& program, const RequestValue& value) {
    std::vector<std::string_view> fields{"path", "all-heads", "scale", "width", "font-size"};
    for (const PictureOption& option : picture_options())
        fields.push_back(option.flag.substr(2));
    value.allow(fields);
    PictureChoice choice = program.state().files.picture;
    for (const PictureOption& option : picture_options())
        if (const auto given = value.find(option.flag.substr(2))) {
            std::vector<std::string_view> names;
            std::ranges::transform(option.values, std::back_inserter(names), &PictureOption::Value::name);
            option.set(choice, static_cast<int>(given->choice(names)));
        }
    if (const auto all = value.find("all-heads")) {
        choice.all_heads = all->on();
        if (choice.all_heads && !offers_all_heads(program.state()))
            fail_input(
                tr("file_requests.no_all_heads",
                   "\"all-heads\" belongs to the stages of a checkpoint or a file with several heads"));
    }
    if (const auto scale = value.find("scale")) {
        choice.unit = PictureUnit::times;
        choice.times = static_cast<int>(scale->whole(1, 3));
    }
    constexpr std::array widths{PictureUnit::mm, PictureUnit::px};
    constexpr std::array font_sizes{PictureUnit::pt};
    if (const auto width = value.find("width"))
        set_picture_size(choice, *width, widths);
    if (const auto size = value.find("font-size"))
        set_picture_size(choice, *size, font_sizes);
    program.write_path(
        {PathPurpose::picture, path_with_ending(value.main("path"), picture_suffixes()), choice});
}

void write_requested_numbers(Program& program, const RequestValue& value) {
    const AppState& state = program.state();
    program.write_path({.purpose = PathPurpose::numbers,
                        .path = path_with_ending(value, number_suffixes(state.shown, state.view))});
}

void write_requested_script(Program& program, const RequestValue& value) {
    program.write_path({.purpose = PathPurpose::script, .path = path_with_ending(value, {".py"})});
}

void open_sentence_list(Program& program, const RequestValue& value) {
    const std::string path = value.path();
    std::error_code none;
    if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
        fail_input(tr("file_requests.not_a_file",
                      "{} is not a file; name a text file with one sentence a line", path));
    program.act(OpenSentences{path});
}

void record_film(Program& program, const RequestValue& value) {
    constexpr std::array<std::string_view, 2> whats{"stages", "lesson"};
    value.allow({"path", "what", "width", "height", "rest"});
    FilmChoice film;
    if (program.state().course.open != nullptr)
        film = {.lesson = program.state().course.open->id, .of_lesson = true};
    if (const auto what = value.find("what"))
        film.of_lesson = what->choice(whats) == 1;
    if (film.of_lesson && film.lesson.empty())
        fail_input(needs_lesson(program.state()));
    constexpr std::int64_t least = 200, most = 16'384;
    if (const auto width = value.find("width"))
        film.width = static_cast<int>(width->whole(least, most));
    if (const auto height = value.find("height"))
        film.height = static_cast<int>(height->whole(least, most));
    if (const auto rest = value.find("rest")) {
        film.rest = rest->number();
        if (!(film.rest > 0) || film.rest > 600)
            fail_input(tr("file_requests.rest", "\"rest\" should be above 0 and at most 600 seconds"));
    }
    program.write_path({.purpose = PathPurpose::film,
                        .path = path_with_ending(value.main("path"), film_suffixes()),
                        .film = film});
}

void open_hub(Program& program, const RequestValue& value) {
    const std::string name = value.text();
    program.act(HubAction{HubAction::Kind::open, name});
    program.act(HubAction{HubAction::Kind::find, name});
}

/// Refuses while a dialog for files is open, which shows the errors of its own files.
std::string needs_no_file_dialog(const AppState& state) {
    return state.files.chooser || state.files.hub
               ? tr("file_requests.dialog_open",
                    "A dialog for files is open; answer it with \"reply\" or close it with \"cancel\"")
               : "";
}
std::string needs_action(const AppState& state, std::string_view id) {
    const std::string missing = needs_no_file_dialog(state);
    return missing.empty() ? action_missing(state, id) : missing;
}
std::string needs_picture_to_save(const AppState& state) {
    return needs_action(state, "picture");
}
std::string needs_numbers_to_save(const AppState& state) {
    return needs_action(state, "save numbers");
}
std::string needs_script_to_save(const AppState& state) {
    return needs_action(state, "save script");
}
std::string needs_stages_to_film(const AppState& state) {
    return needs_action(state, "record");
}
std::string needs_checkpoint_to_compare(const AppState& state) {
    return needs_action(state, "compare with");
}
std::string needs_checkpoint_for_prompts(const AppState& state) {
    return needs_action(state, "prompts");
}
std::string needs_text_for_list(const AppState& state) {
    return needs_action(state, "sentences");
}

} // namespace

std::vector<Request> file_requests() {
    return {
        // clang-format off
        {"open", "PATH, or an object with `path`, `text`, `text-pair` and `decoder-text`",
         "opens any file that the window can open, or the folder of a checkpoint, like *Open*: after the question about unsaved changes; `pocket` is the model that ships with the program. The texts are those of a checkpoint",
         open_file, needs_no_file_dialog, RepeatedRequest::file},
        {"open hub", "NAME or NAME@REVISION", "opens a model of the Hugging Face Hub that is on this machine; otherwise asks the Hub for its files and then asks whether to download them",
         open_hub, needs_no_file_dialog, RepeatedRequest::file},
        {"save", "PATH", "writes the project to this file, and replaces an existing one; PATH ends in `.headscope`, or in `.patch.safetensors` for a patch",
         [](Program& program, const RequestValue& value) { program.save_path(value.path()); }, needs_no_file_dialog},
        {"picture", "PATH, or an object with `path` and one or more of `theme`, `background`, `crop`, `title`, `all-heads`, `scale`, `width` and `font-size`, as for `headscope render`",
         "writes a picture of the view as PNG, SVG or PDF, and replaces an existing file; other settings are those of the last picture",
         write_requested_picture, needs_picture_to_save},
        {"save numbers", "PATH", "writes the numbers of the stage or the table of the screen, and replaces an existing file", write_requested_numbers, needs_numbers_to_save},
        {"save script", "PATH", "writes a script for PyTorch, and replaces an existing file", write_requested_script, needs_script_to_save},
        {"record", "PATH, or an object with `path`, `what` (`stages` or `lesson`), `width`, `height` and `rest`", "writes a film as GIF, MP4 or HTML page, and replaces an existing file", record_film, needs_stages_to_film},
        {"sentences", "PATH", "opens a list of sentences and shows the first one", open_sentence_list, needs_text_for_list},
        {"compare with", "PATH", "compares the open checkpoint with another one or with a LoRA adapter, which becomes B",
         [](Program& program, const RequestValue& value) { program.act(CompareWithCheckpoint{value.path()}); }, needs_checkpoint_to_compare},
        {"prompts", "PATH", "opens a [list of prompts](prompts.md#in-the-window) for the open checkpoint",
         [](Program& program, const RequestValue& value) { program.act(OpenPath{value.path()}); }, needs_checkpoint_for_prompts},
        {"forget files", "", "clears the list of recent files", [](Program& program, const RequestValue&) { program.act(ForgetRecent{}); }},
        // clang-format on
    };
}

} // namespace headscope::app
