#pragma once

#include "core/checkpoint/files/joined_tensor.h"
#include "core/checkpoint/gguf/gguf_file.h"
#include "core/format/safetensors.h"
#include "core/format/torch/torch_file.h"

#include <functional>
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
    /// The tensors of one file of any of these kinds, by its content and ending. Throws likewise.
    static TensorFiles open_file(const std::string& path);
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
    /// Makes a tensor from the one of the file.
    using Change = std::function<TensorPtr(const TensorPtr& own)>;
    /// Changes what tensor() returns for an existing name from now on, to numbers of the same shape. A later
    /// change gets the result of an earlier one. Copies that were made before are not affected.
    void change(const std::string& name, Change change);
    /// Calls each tensor what `name_of` returns for its name. Throws Error(input) if two get the same name.
    void rename(const std::function<std::string(const std::string& name)>& name_of);
    /// Adds a tensor that `make` computes each time it is read. Throws Error(input) if the name is used.
    void add_made(format::TensorEntry entry, std::function<TensorPtr()> make);
    /// The files of `source`, without its tensors.
    static TensorFiles without_tensors(const TensorFiles& source);
    /// Adds the files of `other` to files(), without their tensors: those that changes read.
    void add_sources(const TensorFiles& other);

private:
    template<class Opened>
    void add_opened(std::shared_ptr<const Opened> file);
    void add(const std::string& path);
    void add_folder(const std::string& folder);
    void read_index(const std::string& folder, const std::string& index);

    struct Place {
        std::size_t
            file; ///< no_file: the first change makes the tensor; of a joined one that of its first part
        const format::TensorEntry*
            entry; ///< in files_[file], whose entries never move, in `joined` or in `own`
        std::shared_ptr<const JoinedTensor> joined = {};
        std::vector<Change> changes = {};
        std::shared_ptr<const format::TensorEntry> own = {}; ///< of a tensor that has another name here
        std::string stored_name = {}; ///< its name in the file, where that is another one

        std::string_view name_in_file(std::string_view name) const {
            return stored_name.empty() ? name : std::string_view(stored_name);
        }
    };
    using Places = std::map<std::string, Place, std::less<>>;
    static constexpr std::size_t no_file = std::size_t(-1);
    /// Returns true if the numbers are those of the file, under their name there.
    static bool is_as_stored(const Place& place) {
        return place.changes.empty() && place.own == nullptr && place.joined == nullptr;
    }
    const Place& place_of(std::string_view name) const;
    const Place& place_of_part(std::string_view name) const;
    TensorPtr stored_numbers(std::string_view name, const Place& place) const;
    [[noreturn]] void fail_missing(std::string_view name) const;
    const std::string& source_of(const Place& place) const;

    std::string path_;
    std::vector<File> files_;
    Places places_;
    Places parts_; ///< of joined tensors
};

/// The name of the file that describes a LoRA adapter.
inline constexpr const char* adapter_config_name = "adapter_config.json";

/// Returns true if the path is a PyTorch file, by its content or ending, or the index of several files.
bool is_weights_file(const std::string& path);
/// The folder with config.json and the tokenizer of a checkpoint's path: the folder of a file of weights or
/// of the description of a toy model, else the path itself.
std::string settings_folder(const std::string& path);
/// The text of the config.json in that folder. Throws Error(input) if it is missing.
std::string read_config(const std::string& path);

} // namespace headscope::checkpoint
