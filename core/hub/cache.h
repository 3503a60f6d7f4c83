#pragma once

#include "core/hub/model_name.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace headscope::hub {

// The cache that all programs for the Hugging Face Hub share.
// Layout: https://huggingface.co/docs/hub/local-cache.

/// The folder of the cache: HF_HUB_CACHE, else HF_HOME/hub, else huggingface/hub in the user's cache folder.
/// Empty if the environment names none of them.
std::string cache_folder();

/// The paths of one model in a cache. Creates nothing.
class CachedModel {
public:
    /// `name`: valid for parse_model_name().
    CachedModel(const std::filesystem::path& cache, const std::string& name);

    const std::filesystem::path& folder() const { return folder_; }
    /// The folder of its lock files, which is outside its own folder.
    const std::filesystem::path& locks() const { return locks_; }
    std::filesystem::path blobs() const { return folder_ / "blobs"; }
    /// The content of a file, named by its hash.
    std::filesystem::path blob(const std::string& hash) const { return blobs() / hash; }
    /// The part of it that has been downloaded so far.
    std::filesystem::path incomplete(const std::string& hash) const {
        return blobs() / (hash + ".incomplete");
    }
    std::filesystem::path lock(const std::string& hash) const { return locks_ / (hash + ".lock"); }
    std::filesystem::path ref(const std::string& revision) const { return folder_ / "refs" / revision; }
    std::filesystem::path snapshot(const std::string& commit) const { return folder_ / "snapshots" / commit; }

    /// The folder with the files of a revision: a commit, or a name in refs. Empty if it is not in the cache.
    std::optional<std::string> revision_folder(const std::string& revision) const;

private:
    std::filesystem::path folder_, locks_;
};

/// The value of an environment variable; empty if it is not set.
std::string environment_value(const char* name);

/// Returns true for 40 lower-case hexadecimal digits.
bool is_commit(std::string_view text);

/// Removes a model with all revisions and its lock files. Returns the size of the removed files in bytes.
/// Throws Error(input) if the model is not in the cache or cannot be removed.
std::uint64_t remove_model(const std::string& cache, const std::string& name);

} // namespace headscope::hub
