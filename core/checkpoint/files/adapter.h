#pragma once

#include "core/checkpoint/files/tensor_files.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::checkpoint {

/// A LoRA adapter as PEFT saves it: adapter_config.json, and adapter_model.safetensors or adapter_model.bin.
/// For some modules of a base model it has matrices A (r, d_in) and B (d_out, r), which change the module's
/// weight W (d_out, d_in) to W + s B A (Hu et al. 2022, "LoRA: Low-Rank Adaptation of Large Language
/// Models"). Names of modules are those of the base model's class, without "base_model.model.". Immutable;
/// any thread may read it.
class Adapter {
public:
    struct Product {
        std::string module;    ///< "model.layers.0.self_attn.q_proj"
        std::string A, B;      ///< names in files()
        std::int64_t rank = 0; ///< r, at least 1
        double scale = 0.0;    ///< s: alpha / r, or alpha / sqrt(r)
        bool of_table = false; ///< the module is an embedding: A is (r, rows), B (D, r)
    };
    /// A tensor that replaces the base model's own.
    struct Replacement {
        std::string name;   ///< "lm_head.weight"
        std::string tensor; ///< name in files()
    };

    /// Reads adapter_config.json and the header of the weights. Throws Error(input) that names the key or the
    /// tensor if the adapter is another kind than LoRA (DoRA, for one), or has a key that is not known and
    /// may change the numbers.
    static Adapter open(const std::string& folder);
    /// The same of the text of adapter_config.json, called `source` in messages, and the tensors.
    static Adapter read(std::string_view config, const std::string& source,
                        std::shared_ptr<const TensorFiles> tensors);

    const std::string& folder() const { return folder_; }
    /// base_model_name_or_path: a path, or a name on the Hugging Face Hub; may be empty.
    const std::string& base_name() const { return base_name_; }
    const std::string& revision() const { return revision_; } ///< of the base; empty: main
    const std::vector<Product>& products() const { return products_; }
    const std::vector<Replacement>& replacements() const { return replacements_; }
    const std::shared_ptr<const TensorFiles>& files() const { return files_; }

private:
    std::string folder_, base_name_, revision_; ///< the folder: none of one that read() made
    std::vector<Product> products_;
    std::vector<Replacement> replacements_;
    std::shared_ptr<const TensorFiles> files_;
};

/// Returns true if the path is the folder of an adapter that has no weights of a whole model beside it, or an
/// adapter_config.json.
bool is_adapter(const std::string& path);
/// Returns true if the folder has an adapter_config.json with weights.
bool has_adapter(const std::string& folder);

/// Sets the base of the adapter in `folder` (empty: of every adapter) for this process. An empty base: the
/// one that the adapter names. Any thread; before the adapter is opened.
void set_adapter_base(const std::string& base, const std::string& folder = "");
/// The checkpoint that an adapter changes: the one set by set_adapter_base(), else the path that the adapter
/// names, also relative to its folder, a folder of that name beside it or above it, a packaged model, or the
/// model in the Hugging Face cache. Nothing if it is not on this machine.
std::optional<std::string> find_adapter_base(const std::string& path);
/// The sentence for a base that is not found; `remedy`: how to name it, "name its folder with --base".
std::string missing_base_sentence(const std::string& path, const std::string& remedy);
/// The path that the tokenizer is read from: of an adapter with a tokenizer.json the path itself, else
/// base_of() it.
std::string tokenizer_place(const std::string& path);
/// The path itself, or of an adapter its base, which has the configuration and the tokenizer. Throws
/// Error(input) if the base is not found.
std::string base_of(const std::string& path);

} // namespace headscope::checkpoint
