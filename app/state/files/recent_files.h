#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

inline constexpr std::size_t most_recent_files = 10;

/// The files that were opened or saved, the latest first: absolute paths, each once. Empty when the list is
/// missing or damaged. Files that are gone are still named.
std::vector<std::string> read_recent_files(const std::filesystem::path& list);

// Each reads the list anew, so that programs running at once do not lose each other's entries, and replaces
// it in one step. Says whether it could; a list that cannot be kept is no reason to stop.
bool add_recent_file(const std::filesystem::path& list, const std::string& path);
bool remove_recent_file(const std::filesystem::path& list, const std::string& path);
bool forget_recent_files(const std::filesystem::path& list);

} // namespace headscope::app
