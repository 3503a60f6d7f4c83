#include "core/hub/cache.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"
#include "core/base/user_folders.h"

#include <cstdlib>
#include <system_error>

namespace headscope::hub {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t longest_ref = 4096;

/// "models--openai-community--gpt2" for openai-community/gpt2.
std::string folder_name(const std::string& name) {
    std::string folder = "models--";
    for (const char c : name)
        folder += c == '/' ? std::string("--") : std::string(1, c);
    return folder;
}

std::uint64_t size_of_files(const fs::path& folder) {
    std::uint64_t bytes = 0;
    std::error_code fault;
    for (fs::recursive_directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault))
        if (std::error_code none; at->is_regular_file(none) && !at->is_symlink(none))
            if (const std::uintmax_t size = at->file_size(none); !none)
                bytes += size;
    return bytes;
}

} // namespace

std::string environment_value(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string cache_folder() {
    if (const std::string hub = environment_value("HF_HUB_CACHE"); !hub.empty())
        return hub;
    if (const std::string home = environment_value("HF_HOME"); !home.empty())
        return home + "/hub";
    const fs::path cache = user_folder(UserFolder::cache);
    return cache.empty() ? "" : (cache / "huggingface" / "hub").string();
}

bool is_commit(std::string_view text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

CachedModel::CachedModel(const fs::path& cache, const std::string& name)
    : folder_(cache / folder_name(name)), locks_(cache / ".locks" / folder_name(name)) {}

std::optional<std::string> CachedModel::revision_folder(const std::string& revision) const {
    std::string commit = revision;
    std::error_code ignored;
    if (!is_commit(revision)) {
        if (!fs::is_regular_file(ref(revision), ignored))
            return std::nullopt;
        const std::string text = read_file(ref(revision).string(), longest_ref);
        commit = text.substr(0, text.find_first_of("\r\n"));
    }
    if (!is_commit(commit) || !fs::is_directory(snapshot(commit), ignored))
        return std::nullopt;
    return snapshot(commit).string();
}

std::uint64_t remove_model(const std::string& cache, const std::string& name) {
    const CachedModel model(cache, name);
    std::error_code fault;
    if (!fs::exists(fs::symlink_status(model.folder(), fault)))
        fail_input(
            tr("cache.no_model_cache",
               "there is no model {} in {}; headscope model list shows the models of this machine", name,
               cache.empty() ? tr("cache.no_cache_folder", "the cache, because HOME is not set") : cache));
    const std::uint64_t bytes = size_of_files(model.folder());
    fs::remove_all(model.folder(), fault);
    if (fault)
        fail_input(tr("cache.cannot_remove", "cannot remove {}: {}; change its permissions",
                      model.folder().string(), system_reason(fault.value())));
    fs::remove_all(model.locks(), fault);
    return bytes;
}

} // namespace headscope::hub
