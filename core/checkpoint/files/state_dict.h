#pragma once

#include "core/checkpoint/files/tensor_files.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::checkpoint {

// State dictionaries of nanoGPT and minGPT, small GPTs for teaching, saved without a config.json. Their
// tensors are known by their names.

/// Returns true for a PyTorch or safetensors file with such tensors and no config.json beside it; a file that
/// cannot be read is none.
bool is_state_dict(const std::string& path);

/// The only such file in a folder without a config.json; nothing if there is none or several.
std::optional<std::string> state_dict_in(const std::string& folder);

/// Sets the number of heads of models whose files do not say it, for this process. Any thread; before they
/// are opened.
void set_head_count(std::int64_t heads);

/// The tensors of such a file as the family nanogpt names them, with its config.json.
struct StateDict {
    TensorFiles tensors;
    std::string config;
};
/// Throws Error(input) if the number of heads is not known, and for tensors that contradict each other.
StateDict open_state_dict(const std::string& path);

} // namespace headscope::checkpoint
