#pragma once

#include <cstdint>
#include <string>

namespace headscope::app {

/// What can be opened.
enum class PathKind : std::uint8_t {
    project, ///< a .headscope file, or a .safetensors file that holds a project
    problem, ///< .safetensors with X and the weights that read it
    tensors, ///< .safetensors or .npy
    patch,   ///< edits of a checkpoint
    folder,  ///< perhaps a checkpoint: see is_checkpoint
    unknown  ///< also when it cannot be read
};

/// Whether a folder is a checkpoint: it has a config.json.
bool is_checkpoint(const std::string& folder);

/// Told by the content, and by the ending where the content cannot be read: a damaged project is still a
/// project, so that opening it says what is wrong. Reads a file's header alone.
PathKind kind_of_path(const std::string& path);

} // namespace headscope::app
