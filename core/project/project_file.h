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

// A project is one .safetensors file that also holds JSON: what the user decided, and the numbers that were
// on screen. The format is told in assets/manual/project-file.md.

inline constexpr std::int64_t project_format = 1; ///< the newest that is read, and the one that is written
/// Of the metadata entry that says how the project was looked at. Nothing of it reaches a number, and a
/// project without it, or with another text in it, is whole.
inline constexpr std::string_view view_key = "headscope.view";
inline constexpr std::uint64_t largest_project = std::uint64_t{1} << 31U; ///< bytes

struct OpenedProject {
    Recipe recipe;
    /// Sentences about what could not be kept or was replaced; empty when the project is whole.
    std::vector<std::string> notes;
    std::string view = {}; ///< the entry view_key, unread; empty: there is none
};

/// What a project says about itself before its numbers are read.
struct ProjectSummary {
    std::int64_t format = 0;                     ///< may be newer than project_format
    std::string program;                         ///< the version that wrote it
    std::string title;                           ///< its sentence, or what stands for one
    std::map<std::string, std::string> metadata; ///< all entries, other programs' too
};

/// The bytes of a project file. `problem` is what `recipe` gives, edits included. `also` goes into the
/// file's metadata. The same content gives the same bytes. Throws Error(input) when a number cannot be kept
/// (NaN, infinity) and when the file would be larger than largest_project.
std::string project_bytes(const Recipe& recipe, const Problem& problem,
                          const std::map<std::string, std::string>& also = {});

/// Writes the file whole or not at all, and through to the disk. Throws what project_bytes throws, and
/// Error(input) naming the path and what to do (no such folder, read-only, full disk); an older file of that
/// name then is as it was.
void save_project(const Recipe& recipe, const Problem& problem, const std::string& path,
                  const std::map<std::string, std::string>& also = {});

/// The recipe builds the problem that was saved, to the last bit: where this version builds other numbers
/// from the same choices, the saved ones become the recipe's base, which `notes` says.
/// Throws Error(input), one sentence, when the file is no project, newer than this program, damaged, larger
/// than largest_project, or its tensors do not fit each other.
OpenedProject open_project(const std::string& path);
/// The same for bytes; `source` names them in messages.
OpenedProject parse_project(std::string bytes, const std::string& source);

/// What is left of a damaged or cut file whose structure can still be read; `notes` says what is lost.
/// Throws Error(input) when nothing can be recovered, and for a newer format.
OpenedProject recover_project(const std::string& path);
OpenedProject recover_project_bytes(std::string bytes, const std::string& source);

/// Whether the file holds a project, readable or not.
bool is_project(const format::Safetensors& file);
/// Reads the header alone; what is left of a damaged file suffices. Throws Error(input) when it is no project
/// or its structure cannot be read.
ProjectSummary project_summary(const std::string& path);

} // namespace headscope::project
