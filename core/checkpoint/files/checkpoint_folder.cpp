#include "core/checkpoint/files/checkpoint_folder.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/consolidated.h"
#include "core/checkpoint/files/state_dict.h"
#include "core/checkpoint/files/tensor_files.h"
#include "core/checkpoint/gguf/gguf_parts.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> entries_of(const fs::path& folder, bool folders) {
    std::vector<fs::path> found;
    std::error_code fault;
    for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault))
        if (std::error_code ignored; entry->is_directory(ignored) == folders)
            found.push_back(entry->path());
    std::ranges::sort(found);
    return found;
}

/// Returns true if config.json and weights are there, or an adapter and its weights, and no link leads
/// nowhere.
bool is_model_folder(const fs::path& folder) {
    std::error_code ignored;
    return (fs::is_regular_file(folder / "config.json", ignored) && TensorFiles::are_in(folder.string())) ||
           is_adapter(folder.string()) || is_consolidated(folder.string());
}

/// The step in "checkpoint-500".
std::optional<std::int64_t> step_of(const fs::path& folder) {
    constexpr std::string_view start = "checkpoint-";
    const std::string name = folder.filename().string();
    std::int64_t step = 0;
    if (!name.starts_with(start))
        return std::nullopt;
    const char* const end = name.data() + name.size();
    const auto [rest, fault] = std::from_chars(name.data() + start.size(), end, step);
    return fault == std::errc() && rest == end ? std::optional(step) : std::nullopt;
}

std::vector<std::string> saved_by_trainer(const fs::path& folder) {
    std::vector<std::pair<std::int64_t, std::string>> found;
    for (const fs::path& entry : entries_of(folder, true))
        if (const auto step = step_of(entry); step && is_model_folder(entry))
            found.emplace_back(*step, entry.string());
    std::ranges::sort(found);
    std::vector<std::string> paths;
    for (auto& [step, path] : found)
        paths.push_back(std::move(path));
    return paths;
}

std::string first_line(const fs::path& path) {
    try {
        const std::string text = read_file(path.string());
        return text.substr(0, text.find_first_of("\r\n"));
    } catch (const Error&) {
        return "";
    }
}

} // namespace

std::optional<std::string> cached_revision(const std::string& folder) {
    const auto has_models = [](const fs::path& revision) {
        return is_model_folder(revision) || !gguf_models_in(revision.string()).empty();
    };
    const fs::path snapshots = fs::path(folder) / "snapshots";
    // A name with a folder in it would lead out of the snapshots.
    const fs::path main = first_line(fs::path(folder) / "refs" / "main");
    if (!main.empty() && main.filename() == main && main != "." && main != ".." &&
        has_models(snapshots / main))
        return (snapshots / main).string();
    std::vector<fs::path> all = entries_of(snapshots, true);
    std::erase_if(all, [&](const fs::path& revision) { return !has_models(revision); });
    const auto newest = std::ranges::max_element(all, {}, [](const fs::path& revision) {
        std::error_code fault;
        const auto time = fs::last_write_time(revision, fault);
        return fault ? fs::file_time_type::min() : time;
    });
    return newest == all.end() ? std::nullopt : std::optional(newest->string());
}

std::vector<std::string> checkpoints_of_folder(const std::string& folder) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        return {};
    if (is_model_folder(folder))
        return {folder};
    if (const auto revision = cached_revision(folder))
        return checkpoints_of_folder(*revision);
    if (std::vector<std::string> saved = saved_by_trainer(folder); !saved.empty())
        return saved;
    if (auto file = state_dict_in(folder))
        return {*std::move(file)};
    return gguf_models_in(folder);
}

std::string checkpoint_at(const std::string& path) {
    if (has_adapter(path) && !is_adapter(path))
        fail_input(
            tr("checkpoint_folder.model_and_adapter",
               "{} holds a model and a LoRA adapter; name {}/{} for the adapter, or a folder that holds "
               "only the model",
               path, path, adapter_config_name));
    const std::vector<std::string> found = checkpoints_of_folder(path);
    if (found.empty())
        return path;
    if (found.size() > 1) {
        constexpr std::ptrdiff_t most = 5;
        std::vector<std::string> names;
        for (auto at = found.begin(); at != found.begin() + std::min(most, std::ssize(found)); ++at)
            names.push_back(fs::path(*at).filename().string());
        fail_input(tr("checkpoint_folder.several", "{} holds {} checkpoints ({}); name one of them", path,
                      found.size(), joined(names) + (std::ssize(found) > most ? ", ..." : "")));
    }
    return found.front();
}

} // namespace headscope::checkpoint
