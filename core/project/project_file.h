#pragma once

#include "core/project/recipe.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {
class Safetensors;
} // namespace headscope::format

namespace headscope::project {

// A project is one .safetensors file that also contains JSON: the choices of the user, and the numbers that
// were displayed. assets/manual/project-file.md describes the format.

/// the newest version that can be read, and the one that is written
inline constexpr std::int64_t project_format = 1;
/// The key of the metadata entry with the state of the view. It does not affect any number, and a project
/// without it, or with another text in it, is complete.
inline constexpr std::string_view view_key = "headscope.view";
inline constexpr std::uint64_t largest_project = std::uint64_t{1} << 31U; ///< bytes

struct OpenedProject {
    Recipe recipe;
    /// Sentences about lost or replaced parts; empty if the project is complete.
    std::vector<std::string> notes;
    std::string view = {}; ///< the entry view_key, not parsed; empty if there is none
};

/// The description of a project, available before its numbers are read.
struct ProjectSummary {
    std::int64_t format = 0;                     ///< may be newer than project_format
    std::string program;                         ///< the version that wrote it
    std::string title;                           ///< its sentence, or a replacement
    std::map<std::string, std::string> metadata; ///< all entries, including those of other programs
};

/// The bytes of a project file. `problem` is the result of `recipe`, including edits. `also` is added to the
/// file's metadata. The same content gives the same bytes. Throws Error(input) if a number cannot be stored
/// (NaN, infinity) and if the file would be larger than largest_project.
std::string project_bytes(const Recipe& recipe, const Problem& problem,
                          const std::map<std::string, std::string>& also = {});

/// Writes the file completely or not at all, and syncs it to disk. Throws what project_bytes throws, and
/// Error(input) with the path and a remedy (no such folder, read-only, full disk); an older file of that name
/// is then unchanged.
void save_project(const Recipe& recipe, const Problem& problem, const std::string& path,
                  const std::map<std::string, std::string>& also = {});

/// Opens a project. Its recipe builds the saved problem, to the last bit: if this version builds other
/// numbers from the same choices, the saved numbers become the recipe's base, and `notes` says so. Throws
/// Error(input), one sentence, if the file is not a project, newer than this program, damaged, larger than
/// largest_project, or has inconsistent tensors.
OpenedProject open_project(const std::string& path);
/// Same for bytes; `source` names them in messages.
OpenedProject parse_project(std::string bytes, const std::string& source);

/// Recovers a damaged or truncated file whose structure can still be read; `notes` lists the lost parts.
/// Throws Error(input) if nothing can be recovered, and for a newer format.
OpenedProject recover_project(const std::string& path);
OpenedProject recover_project_bytes(std::string bytes, const std::string& source);

/// Returns true if the file contains a project, readable or not.
bool is_project(const format::Safetensors& file);
/// Reads only the header, which also works for a damaged file. Throws Error(input) if the file is not a
/// project or its structure cannot be read.
ProjectSummary project_summary(const std::string& path);

} // namespace headscope::project
