#include "app/cli/project_arguments.h"

#include "app/state/files/recent_files.h"
#include "app/state/screens/questions.h"
#include "core/base/error.h"
#include "core/base/user_folders.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/patch_identity.h"
#include "core/project/checkpoint_project.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>

namespace headscope::cli {

namespace {

constexpr const char* project_option = "--project";

/// The words after a command, with those that a project adds.
class Words {
public:
    Words(const CLI::App& command, std::vector<std::string> words)
        : command_(command), words_(std::move(words)) {}

    bool takes(const std::string& option) const { return command_.get_option_no_throw(option) != nullptr; }
    bool given(const std::string& option) const {
        return std::ranges::any_of(words_, [&](const std::string& word) {
            return word == option || word.starts_with(option + "=");
        });
    }
    bool any_given(std::initializer_list<const char*> options) const {
        return std::ranges::any_of(options, [&](const char* option) { return given(option); });
    }
    /// Returns the value of an option that was given.
    std::optional<std::string> value(const std::string& option) const {
        for (std::size_t at = 0; at < words_.size(); ++at) {
            if (words_[at].starts_with(option + "="))
                return words_[at].substr(option.size() + 1);
            if (words_[at] == option && at + 1 < words_.size())
                return words_[at + 1];
        }
        return std::nullopt;
    }
    void remove(const std::string& option) {
        for (std::size_t at = 0; at < words_.size(); ++at) {
            const bool alone = words_[at] == option;
            if (!alone && !words_[at].starts_with(option + "="))
                continue;
            const auto first = words_.begin() + static_cast<std::ptrdiff_t>(at);
            words_.erase(first, first + (alone && at + 1 < words_.size() ? 2 : 1));
            return;
        }
    }
    /// Adds the option if the command has it.
    void add(const std::string& option, const std::string& text) {
        if (!takes(option))
            return;
        if (text.empty()) {
            words_.insert(words_.end(), {option, text});
            return;
        }
        words_.push_back(option + "=" + text); // with "=", because the text may begin with a hyphen
    }
    /// Returns true if a word is positional, such as the text of `tokenize`.
    bool has_positional() const {
        for (std::size_t at = 0; at < words_.size(); ++at) {
            if (!words_[at].starts_with('-'))
                return true;
            const CLI::Option* const option = command_.get_option_no_throw(words_[at]);
            if (option != nullptr && option->get_items_expected_max() > 0)
                ++at;
        }
        return false;
    }
    void add_positional(const std::string& text) { words_.insert(words_.end(), {"--", text}); }
    const std::vector<std::string>& words() const { return words_; }

private:
    const CLI::App& command_;
    std::vector<std::string> words_;
};

std::string listed(const std::vector<std::int64_t>& ids) {
    std::string list;
    for (const std::int64_t id : ids)
        list += (list.empty() ? "" : ",") + std::to_string(id);
    return list;
}

std::optional<project::OpenedCheckpointProject> opened_at(const std::string& path) {
    try {
        if (!project::is_checkpoint_project(format::Safetensors::open_lazily(path)))
            return std::nullopt;
    } catch (const Error&) {
        return std::nullopt; // the command reports the error
    }
    return project::open_checkpoint_project(path);
}

std::string model_of(const project::OpenedCheckpointProject& opened, const std::string& path) {
    const std::filesystem::path state = program_folder(UserFolder::state);
    const std::vector<std::string> recent =
        state.empty() ? std::vector<std::string>() : app::read_recent_files(state / "recent.json");
    if (const auto found = project::find_model(opened, path, recent))
        return *found;
    fail_input(project::missing_model_message(opened.project, path) +
               "; name its folder or GGUF file with --model");
}

bool has_edits(const project::OpenedCheckpointProject& opened) {
    return !checkpoint::read_patch_header(opened.file).layers.empty() || !opened.project.activations.empty();
}

/// Adds the second prompt of `patch` and its question.
void add_question(Words& words, const project::CheckpointProject& project) {
    const std::optional<app::Questions> asked =
        app::read_questions(project.questions, std::numeric_limits<std::int64_t>::max());
    if (!asked)
        return;
    if (!words.any_given({"--corrupted", "--corrupted-ids"}) && !asked->patching.corrupted.empty())
        words.add("--corrupted", asked->patching.corrupted);
    for (const auto& [option, token] :
         {std::pair(std::string("--answer"), asked->effects.token), {"--against", asked->effects.against}})
        if (token && !words.given(option) && !words.given(option + "-id"))
            words.add(option + "-id", std::to_string(*token));
    if (asked->position && !words.given("--position"))
        words.add("--position", std::to_string(*asked->position));
}

/// Returns true if the command provides its own tokens.
bool brings_tokens(const Words& words) {
    return words.any_given({"--probe", "--needle", "--text", "--ids", "--text-file", "--inputs"}) ||
           words.value("--scores") == "retrieval";
}

void add_text(Words& words, const project::CheckpointProject& project, bool other_model) {
    if (words.given("--prompts"))
        return;
    // Prefer ids, because generated text may be tokenized differently. Another model has other ids.
    const bool two = !project.text_pair.empty() && words.takes("--text-pair");
    const bool by_ids = !other_model && !project.ids.empty() && !two && !words.given("--text-pair");
    // Ids alone do not show which of two texts a token belongs to.
    if (two && !brings_tokens(words) && !words.any_given({"--text-pair", "--clean", "--clean-ids"}))
        words.add("--text-pair", project.text_pair);
    if (words.takes("--clean")) {
        if (!words.any_given({"--clean", "--clean-ids"}))
            words.add(by_ids ? "--clean-ids" : "--clean", by_ids ? listed(project.ids) : project.text);
        return;
    }
    const bool reads_text = words.value("--what") != "vocabulary"; // vocabulary uses only the weights
    if (reads_text && !brings_tokens(words)) {
        const bool ids = by_ids && words.takes("--ids");
        words.add(ids ? "--ids" : "--text", ids ? listed(project.ids) : project.text);
    }
    const bool reads_decoder = reads_text &&
                               !words.any_given({"--decoder-text", "--decoder-ids", "--inputs"}) &&
                               !words.given("--probe");
    if (!project.decoder_ids.empty() && reads_decoder) {
        const bool ids = by_ids && words.takes("--decoder-ids");
        words.add(ids ? "--decoder-ids" : "--decoder-text",
                  ids ? listed(project.decoder_ids) : project.decoder_text);
    }
}

} // namespace

void add_project_option(CLI::App& command) {
    // Its value has already been replaced when options are parsed: this is for the help text.
    command.add_option_function<std::string>(
        project_option, [](const std::string&) {},
        "a .headscope file of a checkpoint, for the model, text and edits that are not given here");
}

std::vector<std::string> with_checkpoint_project(const CLI::App& program, std::vector<std::string> words) {
    if (words.empty())
        return words;
    const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
    const auto called = std::ranges::find(commands, words.front(), &CLI::App::get_name);
    if (called == commands.end() && !commands.empty())
        return words;
    const CLI::App& command = commands.empty() ? program : **called;
    const std::ptrdiff_t before = commands.empty() ? 0 : 1; // the name of the command
    Words rest(command, {words.begin() + before, words.end()});
    const std::optional<std::string> path = rest.value(project_option);
    if (!path || !rest.takes("--model"))
        return words;
    const std::optional<project::OpenedCheckpointProject> opened = opened_at(*path);
    if (!opened) {
        if (rest.takes("--preset"))
            return words;
        static_cast<void>(format::Safetensors::open_lazily(*path));
        fail_input(*path + " is not a checkpoint project, and " + command.get_name() +
                   " reads a checkpoint; name one that was saved with a model open, or use --model");
    }
    rest.remove(project_option);
    const bool edited = has_edits(*opened);
    const std::optional<std::string> named =
        rest.value("--model") ? rest.value("--model") : rest.value("--tokenizer");
    if (!named)
        rest.add("--model", model_of(*opened, *path));
    const bool other_model = named && !project::matches_model(*opened, checkpoint::model_folder(*named));
    if (rest.takes("--patch")) {
        if (!rest.given("--patch") && (edited || !other_model))
            rest.add("--patch", *path);
    } else if (edited && rest.takes("--texts")) {
        fail_input(*path + " has edits, and a survey measures a checkpoint as it is; name the model alone "
                           "with --model");
    }
    if (command.get_name() == "patch" && !rest.given("--prompts"))
        add_question(rest, opened->project);
    if (command.get_name() == "tokenize") {
        if (!rest.given("--text-file") && !rest.has_positional()) {
            if (!opened->project.text_pair.empty() && !rest.given("--pair"))
                rest.add("--pair", opened->project.text_pair);
            rest.add_positional(opened->project.text); // must be the last argument
        }
    } else {
        add_text(rest, opened->project, other_model);
    }
    std::vector<std::string> all(words.begin(), words.begin() + before);
    all.insert(all.end(), rest.words().begin(), rest.words().end());
    return all;
}

} // namespace headscope::cli
