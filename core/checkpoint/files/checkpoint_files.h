#pragma once

#include "core/checkpoint/files/tensor_files.h"

#include <string>

namespace headscope::checkpoint {

/// The files of a checkpoint: its tensors, by the names of Hugging Face's class, and its config.json.
struct CheckpointFiles {
    TensorFiles tensors;
    std::string config = {};        ///< JSON; empty for a GGUF file, which has it in its keys
    std::string config_source = {}; ///< for messages
    bool rotary_neighbours =
        false;                ///< numbers 2c and 2c + 1 of a head turn together, whatever the family says
    std::string assumed = {}; ///< a sentence about what no file says; empty: nothing
};

/// Opens the files that a path stands for, see Model::open: a folder with config.json and weights, a PyTorch
/// file beside a config.json, a GGUF file, consolidated weights with a params.json (consolidated.h), the
/// state dictionary of nanoGPT or minGPT (state_dict.h), or the description of a toy model (toy_model.h).
/// Throws Error(input) for all others, with a sentence that says what the path is.
CheckpointFiles open_checkpoint_files(const std::string& path);

/// The config.json of those files; empty for a GGUF file. Throws likewise.
std::string checkpoint_config(const std::string& path);

} // namespace headscope::checkpoint
