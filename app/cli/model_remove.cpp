#include "app/cli/model_commands.h"
#include "app/draw/kit/format.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/hub/cache.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

namespace headscope::cli {

void add_model_remove(CLI::App& model) {
    CLI::App& command = *model.add_subcommand(
        "remove", "remove a downloaded model, with all its revisions, from this machine");
    struct Options {
        std::string name;
        std::optional<std::string> cache;
    };
    const auto options = std::make_shared<Options>();
    command
        .add_option("name", options->name,
                    "the model, as `model list` names it, such as openai-community/gpt2")
        ->option_text("NAME")
        ->required();
    command.add_option("--cache", options->cache, "the folder for models that `get` was given")
        ->option_text("DIR");
    command.callback([options] {
        const std::string name = hub::require_model_name(options->name).name;
        if (name != options->name)
            fail_input("remove removes all revisions of a model; write " + name);
        const std::uint64_t bytes = hub::remove_model(options->cache.value_or(hub::cache_folder()), name);
        write_file_atomically("-", "removed " + name + ": " +
                                       app::bytes_text(static_cast<std::int64_t>(bytes)) + "\n");
    });
}

} // namespace headscope::cli
