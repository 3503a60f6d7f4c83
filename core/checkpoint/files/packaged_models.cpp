#include "core/checkpoint/files/packaged_models.h"

#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/private_folder.h"
#include "core/base/sha256.h"
#include "core/base/user_folders.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/checkpoint_folder.h"
#include "core/checkpoint/files/tensor_files.h"
#include "core/hub/cache.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace headscope::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view all_models = "models/", config_ending = "/config.json";
/// Endings of files, which names of models do not have.
constexpr std::array<std::string_view, 7> file_endings{".safetensors", ".gguf", ".bin", ".pt",
                                                       ".pth",         ".ckpt", ".json"};

/// Where the files of packaged models are written: in the user's cache, or below the temporary folder when
/// the user has no cache that can be written. Paths alone: the folders may not exist.
std::vector<fs::path> places_for_models() {
    std::vector<fs::path> places;
    for (const fs::path& folder : {program_folder(UserFolder::cache), private_temporary_path()})
        if (!folder.empty())
            places.push_back(folder / "models");
    return places;
}

/// Only files that this user has written are read from the temporary folder, where others may write too.
bool may_use(const fs::path& place) {
    return place.parent_path() != private_temporary_path() || make_private_temporary_folder();
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
    const bool of_adapter =
        name == adapter_config_name || name == "adapter_model.safetensors" || name == "adapter_model.bin";
    if (of_adapter && has_adapter(folder))
        return is_adapter(folder) ? folder : folder + "/" + adapter_config_name;
    if (!fs::is_regular_file(folder + std::string(config_ending), ignored))
        return path;
    constexpr std::string_view torch_index = "pytorch_model.bin.index.json";
    const bool of_torch_index = name.starts_with("pytorch_model-") && name.ends_with(".bin") &&
                                fs::is_regular_file(folder + "/" + std::string(torch_index), ignored);
    const bool of_torch = name == "pytorch_model.bin" || name == torch_index || of_torch_index;
    // A PyTorch file is named for itself where the folder means its safetensors.
    if (of_torch && TensorFiles::safetensors_are_in(folder))
        return of_torch_index ? folder + "/" + std::string(torch_index) : path;
    return of_model || of_torch ? folder : path;
}

/// The folder of a model in the Hugging Face cache by its name, unless a file or folder is called so.
std::optional<std::string> downloaded_model(const std::string& named) {
    std::error_code ignored;
    const auto model = hub::parse_model_name(named);
    if (!model || fs::exists(named, ignored))
        return std::nullopt;
    const hub::CachedModel cached(hub::cache_folder(), model->name);
    return model->revision == hub::ModelName().revision ? cached_revision(cached.folder().string())
                                                        : cached.revision_folder(model->revision);
}

using PackedFiles = std::vector<std::pair<std::string, std::string>>; ///< names and bytes

void write_model(const fs::path& folder, const PackedFiles& files) {
    std::error_code ignored;
    fs::create_directories(folder.parent_path(), ignored); // write_folder_atomically tells what is wrong
    write_folder_atomically(
        folder.string(), [](const std::string&) { return true; },
        [&](const std::string& at) {
            for (const auto& [name, bytes] : files)
                write_file_atomically(at + "/" + name, bytes);
        });
}

} // namespace

std::vector<std::string> packaged_models() {
    std::vector<std::string> names;
    for (const std::string& asset : asset_names(all_models))
        if (asset.ends_with(config_ending))
            names.push_back(
                asset.substr(all_models.size(), asset.size() - all_models.size() - config_ending.size()));
    return names;
}

std::string not_downloaded_message(const std::string& named) {
    std::error_code ignored;
    const bool is_file =
        std::ranges::any_of(file_endings, [&](std::string_view ending) { return named.ends_with(ending); });
    if (is_file || named.find('/') == std::string::npos || !hub::parse_model_name(named) ||
        fs::exists(fs::symlink_status(named, ignored)))
        return "";
    return tr("packaged_models.not_downloaded",
              "there is neither a file {} nor a downloaded model of that name; headscope get {} downloads it "
              "from the "
              "Hugging Face Hub, or correct the name",
              named, named);
}

bool is_packaged(const std::string& named) {
    const std::vector<std::string> packaged = packaged_models();
    return std::ranges::find(packaged, named) != packaged.end();
}

bool is_unpacked(const std::string& path) {
    const fs::path file(path);
    return std::ranges::any_of(places_for_models(), [&](const fs::path& models) {
        return std::ranges::mismatch(models, file).in1 == models.end();
    });
}

std::string model_folder(const std::string& named) {
    if (!is_packaged(named))
        return downloaded_model(named).value_or(folder_of_file(named));
    const std::string prefix = std::string(all_models) + named + "/";
    PackedFiles files;
    std::string digests;
    for (const std::string& name : asset_names(prefix)) {
        files.emplace_back(name.substr(prefix.size()), asset(name));
        digests += sha256(files.back().second);
    }
    // Another version of the program may bring another model.
    const fs::path below = fs::path(sha256(digests).substr(0, 16)) / named;
    std::vector<fs::path> places = places_for_models();
    std::erase_if(places, [](const fs::path& place) { return !may_use(place); });
    std::error_code ignored;
    for (const fs::path& place : places)
        if (fs::is_regular_file(place / below / fs::path(config_ending).relative_path(), ignored))
            return (place / below).string();
    std::string tried;
    for (const fs::path& place : places) {
        try {
            write_model(place / below, files);
            return (place / below).string();
        } catch (const Error& fault) {
            tried += std::string(tried.empty() ? "" : "; ") + fault.what();
        }
    }
    fail_input(tr("packaged_models.cannot_unpacked_name",
                  "{} cannot be unpacked: {}. Name a folder that can be written in XDG_CACHE_HOME", named,
                  tried.empty() ? tr("packaged_models.no_cache_folder_no",
                                     "there is no cache folder and no temporary folder")
                                : tried));
}

} // namespace headscope::checkpoint
