#include "app/cli/model_commands.h"
#include "core/base/file.h"
#include "core/checkpoint/files/local_models.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::cli {

namespace {

using nlohmann::ordered_json;

std::string as_json(const std::vector<checkpoint::LocalModel>& models) {
    ordered_json list = ordered_json::array();
    for (const checkpoint::LocalModel& model : models)
        list.push_back({{"name", model.name},
                        {"path", model.path},
                        {"family", model.family},
                        {"problem", model.problem}});
    return list.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::string& folder, const std::vector<checkpoint::LocalModel>& models) {
    if (models.empty())
        return "no checkpoints with safetensors in " + folder + "\n";
    std::string text;
    for (const checkpoint::LocalModel& model : models)
        text += model.name + "\n  " +
                (model.problem.empty() ? model.family : "cannot be opened: " + model.problem) + "\n  " +
                model.path + "\n";
    return text;
}

} // namespace

void add_model_list(CLI::App& model) {
    CLI::App& command = *model.add_subcommand(
        "list", "the checkpoints that Hugging Face's tools have fetched to this machine");
    const auto json = std::make_shared<bool>(false);
    command.add_flag("--json", *json, "print JSON");
    command.callback([json] {
        const std::string folder = checkpoint::local_models_folder();
        const std::vector<checkpoint::LocalModel> found = checkpoint::local_models(folder);
        write_file_atomically("-", *json ? as_json(found) : as_text(folder, found));
    });
}

} // namespace headscope::cli
