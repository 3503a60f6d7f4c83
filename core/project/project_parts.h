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

inline constexpr std::string_view project_key = "headscope.project"; ///< of the metadata entry with the JSON
/// By the value of MaskChoice.
inline constexpr std::array<std::string_view, 4> mask_choice_names{"none", "causal", "causal_window",
                                                                   "symmetric_window"};

/// A project file as it was read, before it is compared with what its recipe builds.
struct StoredProject {
    std::string program; ///< the version that wrote it
    Recipe recipe;
    std::optional<Problem> problem;         ///< as it stood on screen; absent when lost
    std::map<TensorId, TensorPtr> unedited; ///< what the edits that show replaced
    std::vector<std::string> notes;         ///< what was left out
};

/// How to take a part that cannot be read.
struct ReadingRules {
    bool leave_out = false;     ///< leave it out and note that, instead of throwing
    std::set<std::string> lost; ///< tensors whose bytes are missing
};

/// The JSON of a project, an object with a format. Throws Error(input) when the file holds none.
nlohmann::json project_json(const format::Safetensors& file);
/// Throws Error(input) naming both versions when the format is newer than project_format.
void check_format(const nlohmann::json& project, const std::string& source);

/// Throws Error(input) naming the source and the field or tensor.
StoredProject read_stored_project(const format::Safetensors& file, const ReadingRules& rules);

} // namespace headscope::project
