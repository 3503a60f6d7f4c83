#include "app/cli/prompts/prompts_option.h"

#include "app/cli/usage.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/sha256.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/model/patch_identity.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <variant>
#include <vector>

namespace headscope::cli {

namespace {

namespace fs = std::filesystem;

/// Returns the folder of an adapter, whose path may be that of its adapter_config.json.
fs::path adapter_folder(const checkpoint::Model& model) {
    std::error_code ignored;
    const fs::path path(model.path());
    return fs::is_directory(path, ignored) ? path : path.parent_path();
}

/// Returns the paths of the files with tensors, of the tokenizer and of settings, some of which may not
/// exist. An adapter's own are added to those of its base.
std::vector<fs::path> files_of(const checkpoint::Model& model) {
    std::vector<fs::path> paths;
    for (const checkpoint::TensorFiles::File& file : model.files().files())
        std::visit([&](const auto& opened) { paths.emplace_back(opened->source()); }, file);
    std::vector<fs::path> folders{model.folder()};
    if (model.adapted() != nullptr)
        folders.push_back(adapter_folder(model));
    for (const fs::path& folder : folders) {
        for (const std::string& name : checkpoint::tokenizer_files(folder.string()))
            paths.push_back(folder / name);
        for (const char* const name : {"generation_config.json", checkpoint::adapter_config_name})
            paths.push_back(folder / name);
    }
    return paths;
}

/// Returns the path without links, so that one folder has one text.
std::string real_path(const std::string& path) {
    std::error_code fault;
    const fs::path real = fs::canonical(path, fault);
    return fault ? path : real.string();
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
    const std::string suffix = fs::path(out).extension().string();
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
    // The headers of two LoRA adapters often agree; their paths differ.
    text += real_path(model.path()) + "\n" + real_path(model.folder()) + "\n";
    for (const fs::path& path : files_of(model)) {
        std::error_code fault; // an absent file, or one inside the program
        const auto written = fs::last_write_time(path, fault);
        text += path.filename().string() + " " +
                (fault ? "-" : std::to_string(written.time_since_epoch().count())) + "\n";
    }
    return text;
}

} // namespace headscope::cli
