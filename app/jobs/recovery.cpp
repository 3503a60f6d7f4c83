#include "app/jobs/recovery.h"

#include "app/jobs/file_lock.h"
#include "core/base/error.h"
#include "core/base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view ending = ".headscope", lock_ending = ".lock";

bool is_kept(std::string_view name) {
    return name.starts_with(autosave_prefix) || name.starts_with(unsaved_prefix);
}

/// Returns true for a lock without a file: its process was killed before it wrote the file or after it
/// removed it.
bool guards_nothing(const fs::path& lock, const std::vector<fs::path>& paths) {
    return std::ranges::none_of(paths,
                                [&](const fs::path& path) { return path != lock && lock_of(path) == lock; });
}

/// Removes the temporary file of an interrupted write: it is incomplete, and the file that it was to replace
/// is intact. write_file_atomically names it ".NAME.PROCESS.ATTEMPT.tmp" for the file NAME.
void remove_unfinished(const fs::path& path, const std::string& name) {
    if (!name.starts_with('.') || !is_kept(std::string_view(name).substr(1)) || !name.ends_with(".tmp"))
        return;
    const fs::path file = path.parent_path() / fs::path(name.substr(1)).stem().stem().stem();
    std::error_code ignored;
    if (!is_locked(lock_of(file)))
        fs::remove(path, ignored);
}

Recovery read_recovery(const fs::path& file, const project::ProjectSummary& summary) {
    Recovery recovery{.file = file, .title = summary.title, .edited_at = 0};
    const auto entry = summary.metadata.find(std::string(autosave_key));
    if (entry == summary.metadata.end())
        return recovery;
    const nlohmann::json about = parse_json_with_bytes(entry->second, file.string());
    if (const auto path = about.find("project_path"); path != about.end() && path->is_string())
        recovery.project_path = path->get<std::string>();
    if (const auto time = about.find("edited_at"); time != about.end() && time->is_number_integer())
        recovery.edited_at = time->get<std::int64_t>();
    return recovery;
}

void add_recovery(const fs::path& file, std::vector<Recovery>& found) {
    try {
        const project::ProjectSummary summary = project::project_summary(file.string());
        if (summary.format <= project::project_format)
            found.push_back(read_recovery(file, summary));
    } catch (const std::exception&) {
        std::error_code ignored;
        fs::rename(file, file.string() + ".damaged", ignored);
        remove_unlocked(lock_of(file));
    }
}

} // namespace

std::vector<Recovery> find_recoveries(const fs::path& folder) {
    std::vector<Recovery> found;
    std::error_code fault;
    std::vector<fs::path> paths;
    for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault))
        paths.push_back(at->path());
    for (const fs::path& path : paths) {
        const std::string name = path.filename().string();
        if (name.starts_with(autosave_prefix) && name.ends_with(ending) && !is_locked(lock_of(path)))
            add_recovery(path, found);
        else if (is_kept(name) && name.ends_with(lock_ending) && guards_nothing(path, paths))
            remove_unlocked(path);
        else
            remove_unfinished(path, name);
    }
    std::ranges::sort(found, std::greater<>(), &Recovery::edited_at);
    return found;
}

project::OpenedProject load_recovery(const Recovery& recovery) {
    try {
        return project::open_project(recovery.file.string());
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::input)
            throw;
        return project::recover_project(recovery.file.string());
    }
}

void discard_recovery(const Recovery& recovery) {
    std::error_code ignored;
    fs::remove(recovery.file, ignored);
    remove_unlocked(lock_of(recovery.file));
}

} // namespace headscope::app
