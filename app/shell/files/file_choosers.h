#pragma once

#include "app/views/state.h"
#include "core/checkpoint/files/local_models.h"

#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

/// Returns the chooser for a purpose, with a name, a folder and places that match the content of the screen.
/// `last_folder`: of the last chosen path; may be empty.
OpenChooser make_chooser(PathPurpose purpose, const AppState& state,
                         const std::filesystem::path& last_folder);

/// Returns the endings of files of prompts, see analysis::PromptSet.
const std::vector<std::string>& prompt_suffixes();
/// Returns true if a path that is nothing else is a set of prompts for the document, a checkpoint.
bool is_prompt_file(const Document& document, const std::string& path);

/// Returns the models of the Hugging Face cache. Reads a header of each: not for the window's thread.
std::vector<OfferedModel> cached_models();

/// "llama, 2 layers × 4 heads, 1.2 M parameters, 4.9 MB"; empty for a model that cannot be opened.
std::string model_summary(const checkpoint::LocalModel& model);

inline constexpr const char* project_suffix = ".headscope";
inline constexpr const char* patch_suffix = ".patch.safetensors"; ///< edits of a checkpoint

} // namespace headscope::app
