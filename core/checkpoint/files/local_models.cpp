#include "core/checkpoint/files/local_models.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/user_folders.h"
#include "core/checkpoint/families/families.h"
#include "core/checkpoint/files/tensor_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view models_prefix = "models--";

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The folders in a folder; none when it cannot be read.
std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code fault;
    for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault))
        if (std::error_code ignored; entry->is_directory(ignored))
            found.push_back(entry->path());
    return found;
}

/// "models--openai-community--gpt2" is openai-community/gpt2.
std::string name_of(const fs::path& folder) {
    std::string name = folder.filename().string().substr(models_prefix.size());
    constexpr std::string_view joint = "--";
    for (auto at = name.find(joint); at != std::string::npos; at = name.find(joint, at + 1))
        name.replace(at, joint.size(), "/");
    return name;
}

std::string first_line(const fs::path& path) {
    try {
        const std::string text = read_file(path.string());
        return text.substr(0, text.find_first_of("\r\n"));
    } catch (const Error&) {
        return "";
    }
}

/// Tensors are there as well, and no link leads nowhere.
bool has_tensors(const fs::path& folder) {
    return is_checkpoint(folder.string()) && TensorFiles::are_in(folder.string());
}

std::optional<fs::path> chosen_revision(const fs::path& model) {
    const fs::path snapshots = model / "snapshots";
    // A name with a folder in it would lead out of the snapshots.
    const fs::path main = first_line(model / "refs" / "main");
    if (!main.empty() && main.filename() == main && main != "." && main != ".." &&
        has_tensors(snapshots / main))
        return snapshots / main;
    std::vector<fs::path> all = folders_in(snapshots);
    std::erase_if(all, [](const fs::path& folder) { return !has_tensors(folder); });
    const auto newest = std::ranges::max_element(all, {}, [](const fs::path& folder) {
        std::error_code fault;
        const auto time = fs::last_write_time(folder, fault);
        return fault ? fs::file_time_type::min() : time;
    });
    return newest == all.end() ? std::nullopt : std::optional(*newest);
}

LocalModel describe(const fs::path& model, const fs::path& revision) {
    LocalModel found{.name = name_of(model), .path = revision.string(), .family = {}, .problem = {}};
    try {
        const std::string config = (revision / "config.json").string();
        found.family = read_architecture(read_file(config), config).family;
    } catch (const Error& fault) {
        found.problem = fault.what();
    }
    return found;
}

} // namespace

bool is_checkpoint(const std::string& folder) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(folder) / "config.json", ignored);
}

std::string local_models_folder() {
    if (const std::string hub = environment("HF_HUB_CACHE"); !hub.empty())
        return hub;
    if (const std::string home = environment("HF_HOME"); !home.empty())
        return home + "/hub";
    const fs::path cache = user_folder(UserFolder::cache);
    return cache.empty() ? "" : (cache / "huggingface" / "hub").string();
}

std::string checkpoint_name(const std::string& folder) {
    fs::path path = fs::path(folder).lexically_normal();
    if (!path.has_filename())
        path = path.parent_path();
    const fs::path kept = path.parent_path().parent_path();
    const bool cached =
        path.parent_path().filename() == "snapshots" && kept.filename().string().starts_with(models_prefix);
    return cached ? name_of(kept) : path.filename().string();
}

std::vector<LocalModel> local_models(const std::string& folder) {
    std::vector<LocalModel> found;
    for (const fs::path& model : folders_in(folder))
        if (model.filename().string().starts_with(models_prefix))
            if (const auto revision = chosen_revision(model))
                found.push_back(describe(model, *revision));
    std::ranges::sort(found, {}, &LocalModel::name);
    return found;
}

} // namespace headscope::checkpoint
