#include "app/cli/model_commands.h"
#include "app/shell/files/file_choosers.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/files/packaged_models.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::cli {

namespace {

using checkpoint::LocalModel;
using nlohmann::ordered_json;

std::string as_json(const std::vector<LocalModel>& models) {
    ordered_json list = ordered_json::array();
    for (const LocalModel& model : models)
        list.push_back({{"name", model.name},
                        {"path", model.path},
                        {"family", model.family},
                        {"layers", model.layers},
                        {"H", model.H},
                        {"parameters", model.parameters},
                        {"bytes", model.bytes},
                        {"tokenizer", model.tokenizer},
                        {"runs", model.problem.empty()},
                        {"problem", model.problem}});
    return dump_json(list, 2) + "\n";
}

std::string as_text(const std::vector<LocalModel>& models) {
    std::string text;
    for (const LocalModel& model : models) {
        text += model.name + "\n";
        if (!model.family.empty())
            text += "  " + app::model_summary(model) +
                    ", tokenizer: " + (model.tokenizer.empty() ? "none" : model.tokenizer) + "\n";
        text += "  " + (model.problem.empty() ? "runs" : "does not run: " + model.problem) + "\n";
        if (!model.path.empty())
            text += "  " + model.path + "\n";
    }
    return text;
}

/// A packaged model has no path if it cannot be unpacked. This does not hide the other models.
LocalModel packaged_model(const std::string& name) {
    try {
        return checkpoint::describe_model(name, checkpoint::model_folder(name));
    } catch (const Error& fault) {
        LocalModel unusable;
        unusable.name = name;
        unusable.problem = fault.what();
        return unusable;
    }
}

/// Returns packaged models, then those in the cache, then those in the folders.
std::vector<LocalModel> find_models(const std::vector<std::string>& folders) {
    std::vector<LocalModel> all;
    for (const std::string& name : checkpoint::packaged_models())
        all.push_back(packaged_model(name));
    const auto add = [&](const std::string& folder) {
        const std::vector<LocalModel> found = checkpoint::local_models(folder);
        all.insert(all.end(), found.begin(), found.end());
    };
    add(checkpoint::local_models_folder());
    for (const std::string& folder : folders) {
        if (std::error_code none; !std::filesystem::exists(folder, none))
            fail_input("there is no folder " + folder + "; name one with checkpoints or GGUF files");
        add(folder);
    }
    return all;
}

} // namespace

void add_model_list(CLI::App& model) {
    CLI::App& command = *model.add_subcommand(
        "list", "list the models of this machine: family, layers x heads, size, tokenizer, and if each runs");
    struct Options {
        std::vector<std::string> folders;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    command.add_option(
        "DIR", options->folders,
        "folders with checkpoints or GGUF files, besides what Hugging Face's tools have fetched");
    command.add_flag("--json", options->json, "print JSON");
    command.callback([options] {
        const std::vector<LocalModel> found = find_models(options->folders);
        write_file_atomically("-", options->json ? as_json(found) : as_text(found));
    });
}

} // namespace headscope::cli
