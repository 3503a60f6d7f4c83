#pragma once

#include "core/project/project_file.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

// What programs that keep files and the search for those files agree on. Each file is a KeptFile.
inline constexpr std::string_view autosave_prefix = "autosave-"; ///< of a project
inline constexpr std::string_view unsaved_prefix = "unsaved-";   ///< of a checkpoint's edits
inline constexpr std::string_view autosave_key =
    "headscope.autosave"; ///< of the metadata entry with the JSON

/// The last document of a program that did not come to its end.
struct Recovery {
    std::filesystem::path file;
    std::string project_path = {}; ///< the file that it belonged to; empty when it was never saved
    std::string title = {};        ///< its sentence, or what stands for one
    std::int64_t edited_at = 0;    ///< of the last edit; seconds since 1970
};

/// What dead programs left in the folder, the latest first; files of living programs are not touched. A file
/// that cannot be read at all is renamed to end in .damaged; one of a newer Headscope is left to that. Never
/// throws: what cannot be looked at is left out.
std::vector<Recovery> found_recoveries(const std::filesystem::path& folder);

/// The document to the last bit, or with notes what is left of it. The file stays until it is discarded, best
/// after the document has been saved or autosaved anew. Throws Error(input) when nothing can be read.
project::OpenedProject take_recovery(const Recovery& recovery);
/// Removes the file. Throws nothing: one that is gone is what was wanted.
void discard_recovery(const Recovery& recovery);

} // namespace headscope::app
