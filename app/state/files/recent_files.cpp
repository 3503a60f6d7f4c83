#include "app/state/files/recent_files.h"

#include "core/base/file.h"
#include "core/base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::app {

namespace {

std::string absolute_path(const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
}

bool write_list(const std::filesystem::path& list, const std::vector<std::string>& paths) {
    if (list.empty())
        return false;
    try {
        std::filesystem::create_directories(list.parent_path());
        write_file_atomically(list.string(), dump_json(nlohmann::json(paths), 1) + "\n");
        return true;
    } catch (const std::exception&) {
        return false; // disk full or no permission
    }
}

std::vector<std::string> without(std::vector<std::string> paths, const std::string& path) {
    std::erase(paths, path);
    return paths;
}

} // namespace

std::vector<std::string> read_recent_files(const std::filesystem::path& list) {
    std::vector<std::string> paths;
    std::error_code none;
    if (list.empty() || !std::filesystem::is_regular_file(list, none))
        return paths;
    try {
        const nlohmann::json entries = parse_json_with_bytes(read_file(list.string()), list.string());
        if (!entries.is_array())
            return {};
        for (const nlohmann::json& entry : entries)
            if (entry.is_string())
                if (const auto path = entry.get<std::string>();
                    path.starts_with('/') && std::ranges::find(paths, path) == paths.end())
                    paths.push_back(path);
    } catch (const std::exception&) {
        return {};
    }
    paths.resize(std::min(paths.size(), most_recent_files));
    return paths;
}

bool add_recent_file(const std::filesystem::path& list, const std::string& path) {
    const std::string added = absolute_path(path);
    std::vector<std::string> paths = without(read_recent_files(list), added);
    paths.insert(paths.begin(), added);
    paths.resize(std::min(paths.size(), most_recent_files));
    return write_list(list, paths);
}

bool remove_recent_file(const std::filesystem::path& list, const std::string& path) {
    return write_list(list, without(read_recent_files(list), absolute_path(path)));
}

bool forget_recent_files(const std::filesystem::path& list) {
    return write_list(list, {});
}

} // namespace headscope::app
