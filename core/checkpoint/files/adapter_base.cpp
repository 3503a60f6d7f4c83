#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/checkpoint_folder.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/files/packaged_models.h"

#include <filesystem>
#include <mutex>
#include <utility>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

/// The bases that were named, by the folder of the adapter.
struct NamedBases {
    std::mutex mutex;
    std::map<std::string, std::string> by_folder;
};

NamedBases& named_bases() {
    static NamedBases bases;
    return bases;
}

std::string folder_key(const std::string& folder) {
    if (folder.empty())
        return "";
    std::error_code ignored;
    const fs::path whole = fs::weakly_canonical(folder, ignored);
    return ignored ? folder : whole.string();
}

std::optional<std::string> named_base(const std::string& folder) {
    NamedBases& bases = named_bases();
    const std::scoped_lock lock(bases.mutex);
    for (const std::string& key : {folder_key(folder), std::string()})
        if (const auto found = bases.by_folder.find(key); found != bases.by_folder.end())
            return found->second;
    return std::nullopt;
}

/// The folder of a model in the Hugging Face cache, of that revision.
std::optional<std::string> cached_model(const std::string& name, const std::string& revision) {
    std::string folder = "models--" + name;
    for (auto at = folder.find('/'); at != std::string::npos; at = folder.find('/', at))
        folder.replace(at, 1, "--");
    const std::string cache = local_models_folder();
    if (cache.empty() || name.empty())
        return std::nullopt;
    const fs::path model = fs::path(cache) / folder;
    if (revision.empty() || revision == "main")
        return cached_revision(model.string());
    if (fs::path(revision).filename() != revision || revision == "." || revision == "..")
        return std::nullopt;
    std::string commit = revision;
    std::error_code ignored;
    if (const fs::path ref = model / "refs" / revision; fs::is_regular_file(ref, ignored)) {
        commit = read_file(ref.string());
        commit.resize(std::min(commit.find_first_of("\r\n"), commit.size()));
    }
    const fs::path snapshot = model / "snapshots" / commit;
    return fs::path(commit).filename() == commit && is_checkpoint(snapshot.string())
               ? std::optional(snapshot.string())
               : std::nullopt;
}

/// Returns true for a place that holds a whole model.
bool is_base(const fs::path& place) {
    return !checkpoints_of_folder(place.string()).empty() && !is_adapter(place.string());
}

} // namespace

void set_adapter_base(const std::string& base, const std::string& folder) {
    NamedBases& bases = named_bases();
    const std::scoped_lock lock(bases.mutex);
    if (base.empty())
        bases.by_folder.erase(folder_key(folder));
    else
        bases.by_folder[folder_key(folder)] = base;
}

std::optional<std::string> find_adapter_base(const std::string& path) {
    const Adapter adapter = Adapter::open(path);
    if (const auto named = named_base(adapter.folder()))
        return named;
    const std::string& name = adapter.base_name();
    if (name.empty())
        return std::nullopt;
    std::error_code ignored;
    const fs::path own = fs::absolute(adapter.folder(), ignored).lexically_normal();
    const fs::path folder = own.has_filename() ? own : own.parent_path();
    fs::path given = fs::path(name).lexically_normal();
    if (!given.has_filename())
        given = given.parent_path();
    for (const fs::path& place : {given, folder / given, folder.parent_path() / given,
                                  folder.parent_path() / given.filename(), folder / given.filename()})
        if (is_base(place))
            return place.string();
    if (folder.parent_path().filename() == given.filename() && is_base(folder.parent_path()))
        return folder.parent_path().string();
    if (is_packaged(name))
        return model_folder(name);
    return cached_model(name, adapter.revision());
}

std::string missing_base_sentence(const std::string& path, const std::string& remedy) {
    const Adapter adapter = Adapter::open(path);
    // Translators: the last {} is "name its folder with --base".
    return adapter.base_name().empty()
               ? tr("adapter_base.no_name", "{} is a LoRA adapter that does not name its base model; {}",
                    adapter.folder(), remedy)
               : tr("adapter_base.not_found",
                    "{} is a LoRA adapter of {}, which was not found beside it or in the Hugging Face cache; "
                    "{}",
                    adapter.folder(), adapter.base_name(), remedy);
}

std::string base_of(const std::string& path) {
    if (!is_adapter(path))
        return path;
    const std::optional<std::string> found = find_adapter_base(path);
    if (!found)
        fail_input(missing_base_sentence(
            path, tr("adapter_base.name_with_option", "name the folder of that model with --base")));
    const std::string base = checkpoint_at(*found);
    if (is_adapter(base))
        fail_input(tr("adapter_base.base_is_adapter",
                      "{}, the base of the LoRA adapter {}, is an adapter itself; name the folder of a whole "
                      "model with --base",
                      base, path));
    return base;
}

std::string tokenizer_place(const std::string& path) {
    std::error_code ignored;
    return is_adapter(path) && fs::is_regular_file(fs::path(path) / "tokenizer.json", ignored)
               ? path
               : base_of(path);
}

} // namespace headscope::checkpoint
