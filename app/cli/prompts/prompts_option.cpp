#include "app/cli/prompts/prompts_option.h"

#include "app/cli/usage.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/sha256.h"
#include "core/checkpoint/model/patch_identity.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <variant>
#include <vector>

namespace headscope::cli {

namespace {

/// Returns the paths of the files with tensors and of the tokenizer, some of which may not exist.
std::vector<std::filesystem::path> files_of(const checkpoint::Model& model) {
    std::vector<std::filesystem::path> paths;
    for (const checkpoint::TensorFiles::File& file : model.files().files())
        std::visit([&](const auto& opened) { paths.emplace_back(opened->source()); }, file);
    for (const char* const name : {"tokenizer.json", "tokenizer_config.json", "tokenizer.model",
                                   "spiece.model", "vocab.json", "merges.txt", "vocab.txt"})
        paths.push_back(std::filesystem::path(model.folder()) / name);
    return paths;
}

} // namespace

void PromptsOption::add_to(CLI::App& command, const std::string& fields,
                           std::initializer_list<const char*> single) {
    CLI::Option* const option = command.add_option(
        "--prompts", path_,
        "a set of prompts in place of one: a .txt file with one a line, or a .jsonl or .csv file with the "
        "fields " +
            fields + "; the model is loaded once");
    for (const char* const name : single)
        option->excludes(command.get_option(name));
}

void check_set_output(const std::string& out, bool json) {
    const std::string suffix = std::filesystem::path(out).extension().string();
    if (out != "-" && suffix != ".json" && suffix != ".csv" && suffix != ".safetensors")
        fail_input("-o " + out +
                   ": the results of a set are written as .json, .csv or .safetensors; use one of these "
                   "endings");
    if (json && out != "-" && suffix != ".json")
        fail_usage("--json and -o " + out + " were given; give one of them");
}

bool is_small(const checkpoint::Model& model) {
    constexpr std::int64_t most_parameters = 50'000'000; // above, one run uses all cores
    std::int64_t parameters = 0;
    for (const auto& [type, count] : model.report().parameters)
        parameters += count;
    return parameters < most_parameters;
}

std::string computation_text(const CLI::App& command, const checkpoint::Model& model) {
    static constexpr std::array elsewhere{"output", "prompts", "json", "memory", "model", "device"};
    std::string text = command.get_name() + " " HEADSCOPE_VERSION "\n";
    for (const CLI::Option* const option : command.get_options()) {
        const std::string name = option->get_single_name();
        if (option->count() == 0 || std::ranges::find(elsewhere, name) != elsewhere.end())
            continue;
        text += name + "=" + joined(option->results(), {}, "\x1F") + "\n";
        if (name == "patch")
            text += sha256(std::string_view(read_file(option->as<std::string>()))) + "\n";
    }
    const checkpoint::CheckpointIdentity identity = identity_of(model);
    text += identity.config_sha256 + "\n";
    for (const checkpoint::CheckpointIdentity::File& file : identity.files)
        text += file.name + " " + std::to_string(file.bytes) + " " + file.header_sha256 + "\n";
    for (const std::filesystem::path& path : files_of(model)) {
        std::error_code fault; // an absent file, or one inside the program
        const auto written = std::filesystem::last_write_time(path, fault);
        text += fault ? "-\n" : std::to_string(written.time_since_epoch().count()) + "\n";
    }
    return text;
}

} // namespace headscope::cli
