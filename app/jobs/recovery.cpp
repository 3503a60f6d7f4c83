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

bool is_autosave(const std::string& name, std::string_view end) {
    return name.starts_with(autosave_prefix) && name.ends_with(end);
}

/// What was being written when the program was killed: never whole, and what it was to replace still stands.
void remove_unfinished(const fs::path& path, const std::string& name) {
    const auto end = name.find(ending);
    if (!name.starts_with("." + std::string(autosave_prefix)) || !name.ends_with(".tmp") ||
        end == std::string::npos)
        return;
    const fs::path file = path.parent_path() / name.substr(1, end + ending.size() - 1);
    std::error_code ignored;
    if (!is_locked(autosave_lock(file)))
        fs::remove(path, ignored);
}

Recovery read_recovery(const fs::path& file, const project::ProjectSummary& summary) {
    Recovery recovery{.file = file, .project_path = {}, .title = summary.title, .edited_at = 0};
    const auto entry = summary.metadata.find(std::string(autosave_key));
    if (entry == summary.metadata.end())
        return recovery;
    const nlohmann::json about = parse_json(entry->second, file.string());
    if (const auto path = about.find("project_path"); path != about.end() && path->is_string())
        recovery.project_path = path->get<std::string>();
    if (const auto time = about.find("edited_at"); time != about.end() && time->is_number_integer())
        recovery.edited_at = time->get<std::int64_t>();
    return recovery;
}

void look_at(const fs::path& file, std::vector<Recovery>& found) {
    try {
        const project::ProjectSummary summary = project::project_summary(file.string());
        if (summary.format <= project::project_format)
            found.push_back(read_recovery(file, summary));
    } catch (const std::exception&) {
        std::error_code ignored;
        fs::rename(file, file.string() + ".damaged", ignored);
        remove_unlocked(autosave_lock(file));
    }
}

} // namespace

fs::path autosave_lock(const fs::path& file) {
    return fs::path(file).replace_extension(lock_ending);
}

std::vector<Recovery> found_recoveries(const fs::path& folder) {
    std::vector<Recovery> found;
    std::error_code fault;
    std::vector<fs::path> paths;
    for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault))
        paths.push_back(at->path());
    for (const fs::path& path : paths) {
        const std::string name = path.filename().string();
        if (is_autosave(name, ending) && !is_locked(autosave_lock(path)))
            look_at(path, found);
        else if (is_autosave(name, lock_ending) &&
                 !fs::exists(fs::path(path).replace_extension(ending), fault))
            remove_unlocked(path);
        else
            remove_unfinished(path, name);
    }
    std::ranges::sort(found, std::greater<>(), &Recovery::edited_at);
    return found;
}

project::OpenedProject take_recovery(const Recovery& recovery) {
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
    remove_unlocked(autosave_lock(recovery.file));
}

} // namespace headscope::app
