#include "core/checkpoint/files/packaged_models.h"

#include "core/base/assets.h"
#include "core/base/file.h"
#include "core/base/sha256.h"
#include "core/base/user_folders.h"

#include <algorithm>
#include <filesystem>

namespace headscope::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view all_models = "models/", config = "/config.json";

} // namespace

std::vector<std::string> packaged_models() {
    std::vector<std::string> names;
    for (const std::string& asset : asset_names(all_models))
        if (asset.ends_with(config))
            names.push_back(
                asset.substr(all_models.size(), asset.size() - all_models.size() - config.size()));
    return names;
}

std::string model_folder(const std::string& named) {
    const std::vector<std::string> packaged = packaged_models();
    if (std::ranges::find(packaged, named) == packaged.end())
        return named;
    const std::string prefix = std::string(all_models) + named + "/";
    std::vector<std::pair<std::string, std::string>> files;
    std::string digests;
    for (const std::string& name : asset_names(prefix)) {
        files.emplace_back(name.substr(prefix.size()), asset(name));
        digests += sha256(files.back().second);
    }
    // Another version of the program may bring another model.
    const fs::path cache = program_folder(UserFolder::cache);
    const fs::path version = (cache.empty() ? fs::temp_directory_path() / "headscope" : cache) / "models" /
                             sha256(digests).substr(0, 16);
    const fs::path folder = version / named;
    std::error_code ignored;
    if (fs::is_regular_file(folder / fs::path(config).relative_path(), ignored))
        return folder.string();
    fs::create_directories(version, ignored); // write_folder_atomically tells what is wrong
    write_folder_atomically(
        folder.string(), [](const std::string&) { return true; },
        [&](const std::string& at) {
            for (const auto& [name, bytes] : files)
                write_file_atomically(at + "/" + name, bytes);
        });
    return folder.string();
}

} // namespace headscope::checkpoint
