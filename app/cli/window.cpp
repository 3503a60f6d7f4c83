#include "app/shell/window.h"
#include "app/cli/language_option.h"
#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/subcommands.h"
#include "app/cli/window_scene.h"
#include "app/shell/control/control.h"
#include "app/shell/desktop_motion.h"
#include "app/shell/picture_clipboard.h"
#include "app/shell/program.h"
#include "app/shell/window_state.h"
#include "app/state/files/opened_path.h"
#include "app/state/preferences.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/random_access_file.h"
#include "core/base/user_folders.h"
#include "core/checkpoint/files/other_files.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/lesson/library.h"
#include "core/tensor/free_buffers.h"
#include "core/text/preset.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

namespace headscope::cli {

namespace {

struct Options {
    DecoderText decoder;
    SecondText second;
    std::optional<std::string> path, compare, sentence, sentences, kv_sentence, preset, report, control,
        lesson, lessons;
    std::string language; ///< empty: from the preferences, else from the desktop
    std::string device = "auto";
};

constexpr const char* no_folder =
    "Your edits are not kept safe: neither HOME nor XDG_STATE_HOME names a folder; save the project.";

/// Empty if there is no such folder.
std::filesystem::path preferences_path() {
    const std::filesystem::path folder = program_folder(UserFolder::config);
    return folder.empty() ? folder : folder / "view.json";
}

std::string read_file_if_exists(const std::filesystem::path& path) {
    std::error_code none;
    if (path.empty() || !std::filesystem::is_regular_file(path, none))
        return {};
    try {
        return read_file(path.string());
    } catch (const Error&) {
        return {}; // the window opens even if the preferences cannot be read
    }
}

/// The settings in view.json. The file is written only if they changed.
class Preferences {
public:
    Preferences() : path_(preferences_path()), kept_(read_file_if_exists(path_)) {}

    const std::string& text() const { return kept_; }

    void keep(const app::ViewState& view) {
        std::string now = app::preferences_json(view);
        if (path_.empty() || now == kept_)
            return;
        kept_ = std::move(now);
        try {
            std::filesystem::create_directories(path_.parent_path());
            write_file_atomically(path_.string(), kept_);
        } catch (const std::exception&) {
            // A full disk or a read-only home loses only the panel widths, not the user's work.
        }
    }

private:
    std::filesystem::path path_;
    std::string kept_;
};

/// Reports errors that can be found before the window opens.
void check_path(const Options& options) {
    if (!options.path)
        return;
    const app::PathKind kind = app::kind_of_path(*options.path);
    if (options.compare)
        for (const std::string& path : {*options.compare, *options.path})
            if (app::kind_of_path(path) != app::PathKind::checkpoint)
                fail_input(path + " is not a checkpoint; --compare BASE TUNED compares two checkpoints");
    const char* const other = options.preset                                          ? "--preset"
                              : options.kv_sentence                                   ? "--kv-sentence"
                              : options.sentence && kind != app::PathKind::checkpoint ? "--sentence"
                              : options.decoder.given() && kind != app::PathKind::checkpoint
                                  ? "--decoder-text"
                              : options.second.text && kind != app::PathKind::checkpoint ? "--text-pair"
                              : options.lesson && kind == app::PathKind::lesson          ? "--lesson"
                                                                                         : nullptr;
    if (other != nullptr)
        throw Error(ErrorKind::usage, *options.path + " and " + other + " were given; give one of them");
    switch (kind) {
    case app::PathKind::checkpoint:
        return;
    case app::PathKind::lesson:
        static_cast<void>(lesson::open_lesson(*options.path));
        return;
    case app::PathKind::survey:
        fail_input(*options.path +
                   " is a survey of a checkpoint's heads; open the checkpoint, and the survey with "
                   "File > Open, or read it with headscope survey show");
    case app::PathKind::folder:
        fail_input(checkpoint::other_path_sentence(*options.path));
    case app::PathKind::unknown:
        if (std::error_code ignored; std::filesystem::exists(*options.path, ignored))
            fail_input(checkpoint::other_path_sentence(*options.path));
        fail_input(*options.path +
                   " is neither a sub-command nor a file that can be opened; see headscope --help");
    case app::PathKind::project:
    case app::PathKind::problem:
    case app::PathKind::tensors:
    case app::PathKind::patch:
        static_cast<void>(RandomAccessFile(*options.path));
    }
}

/// Sets the language of the program before any message is created, and returns the language of the lessons.
std::string begin_language(const std::string& asked, const std::string& preferences) {
    app::ViewState stored;
    app::read_preferences(preferences, stored);
    const std::string language = !asked.empty()             ? asked
                                 : !stored.language.empty() ? stored.language
                                                            : desktop_language();
    use_language(language_of_locale(language));
    return language;
}

void check_lesson(const Options& options, const std::string& language) {
    if (!options.lesson)
        return;
    const auto found = lesson::find_lessons(lesson::lesson_folders(options.lessons), language);
    const auto named = [&](const lesson::FoundLesson& one) {
        return lesson::name_of(one) == *options.lesson;
    };
    if (std::ranges::none_of(found, named))
        fail_input("there is no lesson \"" + *options.lesson + "\"; headscope lesson list names them");
}

int open_window(const Options& options) {
    enable_prompt_memory_release(); // before other threads start
    require_room_for_window();
    Preferences preferences;
    const std::string language = begin_language(options.language, preferences.text());
    check_path(options);
    check_lesson(options, language);
    project::Recipe recipe;
    recipe.preset = options.preset.value_or(recipe.preset);
    const app::SentenceListPtr list = options.sentences ? app::read_sentences(*options.sentences) : nullptr;
    // A project opens with its own sentence.
    const bool shows_first = list != nullptr && !options.sentence &&
                             (!options.path || app::kind_of_path(*options.path) == app::PathKind::checkpoint);
    const std::string sentence = shows_first ? list->front() : options.sentence.value_or("");
    recipe.sentence = options.path ? "" : sentence;
    if (options.kv_sentence)
        recipe.kv_sentence = *options.kv_sentence;
    else if (const text::PresetInfo* preset = text::find_preset(recipe.preset))
        recipe.kv_sentence = text::opening_kv_sentence(*preset);
    const std::filesystem::path state_folder = program_folder(UserFolder::state);
    app::PictureClipboard clipboard;
    app::Program program({.recipe = recipe,
                          .device = options.device,
                          .wake = app::wake_window,
                          .state_folder = state_folder,
                          .no_state_folder_reason = state_folder.empty() ? no_folder : "",
                          .lesson_folders = lesson::lesson_folders(options.lessons),
                          .language = language,
                          .offer_picture = [&](std::string png) { clipboard.offer(std::move(png)); }});
    program.state().view.group = StageGroup::x; // start at the first step
    program.state().view.reduced_motion = app::desktop_wants_less_motion(user_folder(UserFolder::config));
    app::read_preferences(preferences.text(), program.state().view);
    program.state().view.sentences = list;
    program.state().view.sentence = shows_first ? 0 : -1;
    if (options.path) {
        const auto absolute = [](const std::string& path) {
            return std::filesystem::absolute(path).lexically_normal().string();
        };
        const app::ModelTexts texts{
            .prompt = sentence, .target = options.decoder.text, .pair = options.second.text.value_or("")};
        if (options.compare)
            program.open_compared(absolute(*options.compare), texts, absolute(*options.path));
        else
            program.open_path(absolute(*options.path), texts);
    }
    if (options.lesson)
        program.act(app::OpenLesson{*options.lesson});
    if (!options.path && !options.lesson && !options.sentence && !options.kv_sentence && !options.preset &&
        list == nullptr)
        program.begin();
    app::WindowOptions window;
    window.on_drop = [&](const std::vector<std::string>& paths) { program.open_path(paths.front()); };
    std::optional<app::Control> control;
    if (options.control)
        control.emplace(program, *options.control, app::wake_window);
    std::string reported;
    // The model that comes with the program opens on its Flow.
    bool flow_waits = options.path == checkpoint::model_folder("pocket");
    window.on_frame = [&](float scale) {
        if (flow_waits && program.state().document->is_checkpoint()) {
            flow_waits = false;
            program.act(app::ShowScreen{app::Screen::flow});
        }
        if (control)
            control->follow(scale);
        if (options.report)
            if (std::string report = program.report(scale); report != reported) {
                write_file_atomically(*options.report, report);
                reported = std::move(report);
            }
    };
    window.on_pause = [&] { preferences.keep(program.state().view); };
    const int code = app::run_window(program, window);
    preferences.keep(program.state().view);
    return code;
}

} // namespace

std::function<int()> add_window(CLI::App& program) {
    const auto options = std::make_shared<Options>();
    CLI::Option* const path =
        program
            .add_option("PATH", options->path,
                        "the file that the window opens: a project (.headscope), a lesson (.md), a problem "
                        "(.safetensors with X, W_Q, W_K, W_V, W_O), attention weights (.npy, .npz, "
                        ".safetensors, JSON for CircuitsVis), the folder of a Hugging Face checkpoint, its "
                        "PyTorch file (.bin, .pt), a GGUF file "
                        "(.gguf), or "
                        "pocket, the "
                        "trained model that comes with the program")
            ->transform(checkpoint::model_folder);
    program
        .add_option(
            "--compare", options->compare,
            "BASE TUNED: the checkpoint that PATH, a second checkpoint or a LoRA adapter, is compared "
            "with; the window shows TUNED - BASE")
        ->transform(checkpoint::model_folder)
        ->needs(path);
    program.add_option("--sentence", options->sentence,
                       "the sentence that the window opens with; for a checkpoint, its prompt");
    options->second
        .add_to(program, "for a checkpoint whose tokenizer has a form for two texts: the second one")
        ->needs(path);
    options->decoder
        .add_text_to(program, "Options",
                     "for a checkpoint with an encoder and a decoder: what the decoder reads "
                     "(default: a dozen tokens that it writes itself)")
        ->needs(path);
    program.add_option("--kv-sentence", options->kv_sentence,
                       "cross-attention: a second sentence, from which keys and values come");
    program.add_option("--preset", options->preset,
                       "embeddings and weights for the sentence: " + preset_names());
    program
        .add_option("--report", options->report,
                    "keep FILE up to date with the content of the screen, as JSON, for programs that drive "
                    "the window")
        ->envname("HEADSCOPE_REPORT");
    program.add_option(
        "--control", options->control,
        "take JSON lines such as {\"id\": 1, \"action\": \"stage\", \"value\": \"weights\"} from a local "
        "socket with this path, and answer each; \"actions\" lists what there is");
    program.add_option("--sentences", options->sentences,
                       "a text file with one sentence a line, to step through with Shift Page down and Shift "
                       "Page up; the first one is shown");
    program.add_option("--lesson", options->lesson,
                       "the lesson to open, by its id; see headscope lesson list");
    program.add_option("--lessons", options->lessons, "a folder with more lessons");
    add_ignore_unknown(program);
    add_base(program);
    add_language_option(program, options->language, "that of the settings, else of the desktop");
    add_device_option(program, options->device);
    return [options] { return open_window(*options); };
}

} // namespace headscope::cli
