#pragma once

#include <cstdint>
#include <string>

namespace headscope::app {

/// What can be opened.
enum class PathKind : std::uint8_t {
    project,    ///< a .headscope file, or a .safetensors file that holds a project
    problem,    ///< .safetensors with X and the weights that read it
    tensors,    ///< .safetensors or .npy: attention weights, or what says why it has none
    patch,      ///< edits of a checkpoint, and nothing that says where that lies
    survey,     ///< what heads do over a corpus, an SQLite file
    checkpoint, ///< a folder with a config.json, or a GGUF file
    lesson,     ///< .md
    folder,     ///< any other
    unknown     ///< also when it cannot be read
};

/// By the ending of its name alone; `unknown` for folders too.
PathKind kind_of_ending(const std::string& path);

/// Where a path goes that is dropped on the window, chosen to be opened, given on the command line or opened
/// again. Told by the content, and by the ending where the content cannot be read: a damaged project is still
/// a project, so that opening it says what is wrong. Reads a file's header alone.
PathKind kind_of_path(const std::string& path);

/// Whether a project is of a checkpoint. Reads the header alone; a file that cannot be read is none.
bool is_checkpoint_work(const std::string& path);

} // namespace headscope::app
