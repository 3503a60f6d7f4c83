#pragma once

#include "core/base/user_folders.h"

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

/// One line of a folder's listing.
struct FileRow {
    std::string name; ///< as the file system has it; not always UTF-8
    bool folder = false;
    bool checkpoint = false;  ///< a folder with a config.json
    std::uintmax_t bytes = 0; ///< 0 for folders
    std::time_t modified = 0; ///< 0: unknown
};

/// What a file chooser shows of a folder.
struct FileListing {
    std::filesystem::path folder; ///< absolute, without "." and ".."
    std::vector<FileRow> rows;    ///< folders first, each part by name, letter case ignored
    std::string error;            ///< one sentence when the folder cannot be read; `rows` is empty then
};

/// Folders, and files whose name ends in one of the suffixes (".headscope"; letter case ignored; no suffixes:
/// every file). Names that begin with a dot are left out unless `hidden`. Never throws for what the disk
/// holds.
FileListing list_folder(const std::filesystem::path& folder, const std::vector<std::string>& suffixes,
                        bool hidden = false);

/// What typed text names: "~" is the home folder, a relative path starts at `folder`. Without "." and "..".
std::filesystem::path typed_path(const std::string& typed, const std::filesystem::path& folder);

/// Typed text after the Tab key: its last part grown as far as all entries agree that begin with it, with "/"
/// after a folder that is the only one. Unchanged when nothing matches. `names` may be typed beside what is
/// in `folder`.
std::string completed(const std::string& typed, const std::filesystem::path& folder,
                      const std::vector<std::string>& suffixes, const std::vector<std::string>& names = {});

/// Whether the name ends in the suffix, letter case ignored.
bool has_suffix(const std::string& name, const std::string& suffix);

/// "today 10:42", "21 Nov 10:42", "21 Nov 2024" in local time; empty for 0.
std::string date_text(std::time_t time, std::time_t now);

} // namespace headscope::app
