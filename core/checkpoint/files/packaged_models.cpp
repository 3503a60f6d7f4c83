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

/// Where the files of packaged models are written.
fs::path unpacked_models() {
    const fs::path cache = program_folder(UserFolder::cache);
    return (cache.empty() ? fs::temp_directory_path() / "headscope" : cache) / "models";
}

/// The folder of a checkpoint by one of its own files; another path stays itself.
std::string folder_of_file(const std::string& path) {
    const fs::path file(path);
    const std::string name = file.filename().string();
    const bool of_model = name == "config.json" || name == "model.safetensors" ||
                          name == "model.safetensors.index.json" ||
                          (name.starts_with("model-") && name.ends_with(".safetensors"));
    const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
    std::error_code ignored;
    return of_model && fs::is_regular_file(folder + std::string(config), ignored) ? folder : path;
}

} // namespace

std::vector<std::string> packaged_models() {
    std::vector<std::string> names;
    for (const std::string& asset : asset_names(all_models))
        if (asset.ends_with(config))
            names.push_back(
                asset.substr(all_models.size(), asset.size() - all_models.size() - config.size()));
    return names;
}

bool is_packaged(const std::string& named) {
    const std::vector<std::string> packaged = packaged_models();
    return std::ranges::find(packaged, named) != packaged.end();
}

bool is_unpacked(const std::string& path) {
    const fs::path models = unpacked_models(), file(path);
    return std::ranges::mismatch(models, file).in1 == models.end();
}

std::string model_folder(const std::string& named) {
    if (!is_packaged(named))
        return folder_of_file(named);
    const std::string prefix = std::string(all_models) + named + "/";
    std::vector<std::pair<std::string, std::string>> files;
    std::string digests;
    for (const std::string& name : asset_names(prefix)) {
        files.emplace_back(name.substr(prefix.size()), asset(name));
        digests += sha256(files.back().second);
    }
    // Another version of the program may bring another model.
    const fs::path version = unpacked_models() / sha256(digests).substr(0, 16);
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
