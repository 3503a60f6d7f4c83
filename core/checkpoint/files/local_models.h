#pragma once

#include "core/checkpoint/model/model.h"
#include "core/hub/model_name.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// A checkpoint on this machine, as the headers of its files describe it.
struct LocalModel {
    std::string name;   ///< "openai-community/gpt2"
    std::string path;   ///< of its folder or GGUF file; empty for a packaged model that cannot be unpacked
    std::string family; ///< "gpt2"; empty, as what follows, when it cannot be opened here
    std::int64_t layers = 0;
    std::int64_t H = 0;
    std::int64_t parameters = 0; ///< numbers in its files
    std::uint64_t bytes = 0;     ///< of its files with tensors
    std::string tokenizer;       ///< what the tokenizer is read from; empty: there is none
    std::string problem;         ///< why it does not run, in a sentence; empty: it runs
};

/// Returns true if a path is meant as a checkpoint: a folder with a config.json, a LoRA adapter, a file that
/// begins as GGUF files do, or a PyTorch file or index. Opening it may still fail.
bool is_checkpoint(const std::string& path);

/// Whether a file holds the weights of a model, as its names of tensors say, and no config.json lies beside
/// it. A file that cannot be read holds none.
bool lacks_config(const std::string& path);

/// What a model's tokenizer can be read from: files of its folder, or "gpt2 in the file" for a GGUF file
/// whose key tokenizer.ggml.model says gpt2. Empty: it has none.
std::vector<std::string> tokenizer_sources(const Model& model);
/// Names of the files in the folder that a tokenizer can be read from.
std::vector<std::string> tokenizer_files(const std::string& folder);

/// Opens the headers of a checkpoint; no weight is read. Throws nothing but std::bad_alloc: what cannot be
/// opened has a problem.
LocalModel describe_model(const std::string& name, const std::string& path);

/// The folder of the Hugging Face cache, see hub::cache_folder().
std::string local_models_folder();

/// The checkpoints in a folder, described, by name: those of a Hugging Face cache, of each the revision that
/// its branch main names, else the newest; folders with config.json and safetensors or PyTorch files; GGUF
/// files. The folder
/// itself, where it is a checkpoint, a GGUF file or a PyTorch file. A folder that is missing or cannot be
/// read has none.
std::vector<LocalModel> local_models(const std::string& folder);

/// The folder of a model of the Hub in the cache, which opens without a connection. Empty if files of it are
/// missing.
std::optional<std::string> downloaded_folder(const hub::ModelName& model);

/// What people call a checkpoint: "openai-community/gpt2" for a revision in the cache, else the name of the
/// folder or file.
std::string checkpoint_name(const std::string& path);

} // namespace headscope::checkpoint
