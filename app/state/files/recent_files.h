#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

inline constexpr std::size_t most_recent_files = 10;

/// Returns the files that were opened or saved, most recent first: absolute paths without duplicates. Empty
/// if the list is missing or damaged. Includes files that no longer exist.
std::vector<std::string> read_recent_files(const std::filesystem::path& list);

// Each reads the list again, so that concurrent processes keep each other's entries, and replaces the file
// atomically. Returns false if the list could not be written; callers may ignore that.
bool add_recent_file(const std::filesystem::path& list, const std::string& path);
bool remove_recent_file(const std::filesystem::path& list, const std::string& path);
bool forget_recent_files(const std::filesystem::path& list);

} // namespace headscope::app
