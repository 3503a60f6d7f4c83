#pragma once

#include "core/format/safetensors.h"
#include "core/project/recipe.h"

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::project {

/// key of the metadata entry with the JSON
inline constexpr std::string_view project_key = "headscope.project";
/// Indexed by MaskChoice.
inline constexpr std::array<std::string_view, 4> mask_choice_names{"none", "causal", "causal_window",
                                                                   "symmetric_window"};

/// A project file as read, before it is compared with the result of its recipe.
struct StoredProject {
    std::string program; ///< the version that wrote it
    Recipe recipe;
    std::optional<Problem> problem;         ///< as displayed; absent if lost
    std::map<TensorId, TensorPtr> unedited; ///< the original tensors of the visible edits
    std::vector<std::string> notes;         ///< omitted parts
};

/// Treatment of parts that cannot be read.
struct ReadOptions {
    bool omit_unreadable = false;          ///< omit the part and add a note, instead of throwing
    std::set<std::string> missing_tensors; ///< tensors whose bytes are missing
};

/// The JSON of a project, an object with a format. Throws Error(input) if the file contains none.
nlohmann::json project_json(const format::Safetensors& file);
/// Throws Error(input) with both versions if the format is newer than project_format.
void check_format(const nlohmann::json& project, const std::string& source);

/// Throws Error(input) with the source and the field or tensor.
StoredProject read_stored_project(const format::Safetensors& file, const ReadOptions& rules);

} // namespace headscope::project
