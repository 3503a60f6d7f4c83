#pragma once

#include "core/checkpoint/files/joined_tensor.h"
#include "core/checkpoint/gguf/gguf_file.h"
#include "core/format/safetensors.h"
#include "core/format/torch/torch_file.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::checkpoint {

/// The tensors of a checkpoint: of a folder with safetensors or PyTorch files, or of a GGUF or PyTorch file.
/// Headers are read at once, tensors when they are asked for. Immutable; any thread may read it.
class TensorFiles {
public:
    using File = std::variant<std::shared_ptr<const format::Safetensors>, std::shared_ptr<const GgufFile>,
                              std::shared_ptr<const format::TorchFile>>;

    /// `path` is a GGUF or PyTorch file, the index of several files, or a folder with the first of these:
    /// model.safetensors, model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json, one
    /// other PyTorch file. Throws Error(input) if a folder has none of them or several other PyTorch files,
    /// if an index and its files contradict each other, and for any file that cannot be opened.
    static TensorFiles open(const std::string& path);
    /// The tensors of one opened file.
    static TensorFiles of(std::shared_ptr<const format::Safetensors> file);
    /// Returns true if open() finds tensors in the folder; nothing is read.
    static bool are_in(const std::string& folder);
    /// Returns true if the folder has safetensors, which open() prefers to PyTorch files.
    static bool safetensors_are_in(const std::string& folder);

    /// In the order in which they were opened.
    const std::vector<File>& files() const { return files_; }
    /// The GGUF file, or null when the tensors come from elsewhere.
    const GgufFile* gguf() const;
    /// All tensors, ordered by name.
    std::vector<const format::TensorEntry*> entries() const;
    /// Null when there is no such tensor.
    const format::TensorEntry* find(std::string_view name) const;
    /// As float32; throws like Safetensors::tensor, and when a number is NaN or infinite.
    TensorPtr tensor(std::string_view name) const;
    /// Returns whether two existing tensors have the same shape and numbers. They are read piece by
    /// piece, up to the first difference. Throws like tensor().
    bool same_numbers(std::string_view name, std::string_view other) const;

    /// Returns true if all files are safetensors.
    bool are_safetensors() const;
    /// Puts tensors in the place of their parts, which are tensors of the files.
    void join(std::vector<JoinedTensor> tensors);
    /// Returns true if the tensor was put in the place of parts.
    bool is_joined(std::string_view name) const;

    // Tensors that are or will be parts. Each throws like the files' own functions.
    /// Null when there is no such tensor.
    const format::TensorEntry* part(std::string_view name) const;
    TensorPtr part_numbers(std::string_view name) const;
    // Of safetensors files alone.
    std::string part_bytes(std::string_view name) const;
    std::vector<std::int64_t> part_integers(std::string_view name) const;

private:
    template<class Opened>
    void add_opened(std::shared_ptr<const Opened> file);
    void add(const std::string& path);
    void add_folder(const std::string& folder);
    void read_index(const std::string& folder, const std::string& index);

    struct Place {
        std::size_t file;
        const format::TensorEntry* entry; ///< in files_[file], whose entries never move, or in `joined`
        std::shared_ptr<const JoinedTensor> joined = {}; ///< `file` has its first part
    };
    using Places = std::map<std::string, Place, std::less<>>;
    const Place& place_of(std::string_view name) const;
    const File& file_of_part(std::string_view name) const;
    TensorPtr read(std::string_view name, const Place& place) const;
    std::string path_;
    std::vector<File> files_;
    Places places_;
    Places parts_; ///< of joined tensors
};

/// Returns true if the path is a PyTorch file, by its content or ending, or the index of several files.
bool is_weights_file(const std::string& path);
/// The folder with config.json and the tokenizer of a path that TensorFiles::open() takes: the folder of a
/// file for which is_weights_file() is true, else the path itself.
std::string settings_folder(const std::string& path);
/// The text of the config.json in that folder. Throws Error(input) if it is missing.
std::string read_config(const std::string& path);

} // namespace headscope::checkpoint
