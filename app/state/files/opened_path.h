#pragma once

#include <cstdint>
#include <string>

namespace headscope::app {

/// The kinds of path that can be opened.
enum class PathKind : std::uint8_t {
    project,    ///< a .headscope file, or a .safetensors file that holds a project
    problem,    ///< .safetensors with X and the weights that are applied to it
    tensors,    ///< .safetensors, .npy, .npz or JSON of CircuitsVis: attention weights, or other tensors, for
                ///< which opening reports why there are none
    patch,      ///< edits of a checkpoint, without the path of the checkpoint
    survey,     ///< head statistics over a corpus, an SQLite file
    checkpoint, ///< a folder with a config.json, a GGUF file, or a PyTorch file
    lesson,     ///< .md
    folder,     ///< any other folder
    unknown     ///< anything else, including paths that cannot be read
};

/// Returns the kind from the file name extension alone; `unknown` for folders too.
PathKind kind_of_ending(const std::string& path);

/// Returns the kind of a path that is dropped on the window, chosen, given on the command line or opened
/// again. Depends on the content, and on the extension if the content cannot be read: a damaged project is
/// still a project, so that opening it reports the error. Reads only the header of the file.
PathKind kind_of_path(const std::string& path);

/// Returns true if a project is based on a checkpoint. Reads only the header; false for a file that cannot be
/// read.
bool is_checkpoint_work(const std::string& path);

} // namespace headscope::app
