#pragma once

#include <string>
#include <vector>

namespace headscope::checkpoint {

/// A checkpoint in the folder where Hugging Face's tools keep what they fetched.
struct LocalModel {
    std::string name;    ///< "openai-community/gpt2"
    std::string path;    ///< of its folder
    std::string family;  ///< "gpt2"; empty when it cannot be opened here
    std::string problem; ///< then: why, in a sentence
};

/// Whether a folder is meant as a checkpoint: it holds a config.json. Whether it can be opened, opening
/// tells.
bool is_checkpoint(const std::string& folder);

/// The folder of the Hugging Face cache: HF_HUB_CACHE, else HF_HOME/hub, else huggingface/hub in the user's
/// cache folder. Empty when the environment names none of them.
std::string local_models_folder();

/// The checkpoints in such a folder that have config.json and safetensors, by name; of each the revision that
/// its branch main names, else the newest. Tensors are not opened. A folder that is missing or cannot be read
/// has none.
std::vector<LocalModel> local_models(const std::string& folder);

/// What people call the checkpoint in a folder: "openai-community/gpt2" for a revision in the cache, else the
/// folder's name.
std::string checkpoint_name(const std::string& folder);

} // namespace headscope::checkpoint
