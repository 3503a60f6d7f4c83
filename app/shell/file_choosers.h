#pragma once

#include "app/views/state.h"

#include <filesystem>

namespace headscope::app {

/// The chooser for a purpose, with a name, a folder and places that suit what is on screen. `last_folder`: of
/// the path that was chosen last; may be empty.
OpenChooser make_chooser(PathPurpose purpose, const AppState& state,
                         const std::filesystem::path& last_folder);

inline constexpr const char* project_suffix = ".headscope";
inline constexpr const char* patch_suffix = ".patch.safetensors"; ///< edits of a checkpoint

} // namespace headscope::app
