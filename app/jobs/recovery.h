#pragma once

#include "core/project/project_file.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

// Names shared by the code that keeps files and the code that finds them. Each file is a KeptFile.
inline constexpr std::string_view autosave_prefix = "autosave-"; ///< for a project
inline constexpr std::string_view unsaved_prefix = "unsaved-";   ///< for a checkpoint's edits
inline constexpr std::string_view autosave_key =
    "headscope.autosave"; ///< of the metadata entry with the JSON

/// The last document of a process that ended unexpectedly.
struct Recovery {
    std::filesystem::path file;
    std::string project_path = {}; ///< the document's file; empty if it was never saved
    std::string title = {};        ///< its sentence, or a substitute
    std::int64_t edited_at = 0;    ///< time of the last edit, seconds since 1970
};

/// Returns the files of dead processes in the folder, newest first; does not touch files of living processes.
/// Renames a file that cannot be read at all to end in .damaged; leaves a file of a newer Headscope alone.
/// Never throws: skips what cannot be examined.
std::vector<Recovery> find_recoveries(const std::filesystem::path& folder);

/// Returns the document, bit-exact, or its readable part with notes. The file remains until it is discarded;
/// save or autosave the document first. Throws Error(input) if nothing can be read.
project::OpenedProject load_recovery(const Recovery& recovery);
/// Removes the file. Never throws; the file may be gone already.
void discard_recovery(const Recovery& recovery);

} // namespace headscope::app
