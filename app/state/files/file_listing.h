#pragma once

#include "core/base/user_folders.h"

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

/// One row of a folder listing.
struct FileRow {
    std::string name; ///< raw file name; not always UTF-8
    bool folder = false;
    bool checkpoint = false;  ///< a folder with a config.json
    std::uintmax_t bytes = 0; ///< 0 for folders
    std::time_t modified = 0; ///< 0: unknown
};

/// The content of a folder as the file chooser shows it.
struct FileListing {
    std::filesystem::path folder; ///< absolute, without "." and ".."
    std::vector<FileRow> rows;    ///< folders first, then files; each group sorted by name, case-insensitive
    std::string error;            ///< one sentence if the folder cannot be read; `rows` is then empty
};

/// Lists folders, and files whose name ends with one of the suffixes (".headscope"; case-insensitive; no
/// suffixes: every file). Names that begin with a dot are skipped unless `hidden`. Never throws because of
/// the disk's content.
FileListing list_folder(const std::filesystem::path& folder, const std::vector<std::string>& suffixes,
                        bool hidden = false);

/// Returns the path that typed text refers to: "~" is the home folder, a relative path starts at `folder`.
/// Without "." and "..".
std::filesystem::path typed_path(const std::string& typed, const std::filesystem::path& folder);

/// Returns the typed text after the Tab key. Its last component is extended to the longest common prefix of
/// all matching entries, followed by "/" if a folder is the only match. Unchanged if nothing matches. `names`
/// are accepted in addition to the content of `folder`.
std::string completed(const std::string& typed, const std::filesystem::path& folder,
                      const std::vector<std::string>& suffixes, const std::vector<std::string>& names = {});

/// Returns true if the name ends with the suffix, case-insensitive.
bool has_suffix(const std::string& name, const std::string& suffix);

/// "today 10:42", "21 Nov 10:42", "21 Nov 2024" in local time; empty for 0.
std::string date_text(std::time_t time, std::time_t now);

} // namespace headscope::app
