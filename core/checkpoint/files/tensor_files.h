#pragma once

#include "core/checkpoint/gguf/gguf_file.h"
#include "core/format/safetensors.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::checkpoint {

/// The tensors of a checkpoint: of a folder with model.safetensors, or the files that
/// model.safetensors.index.json names; or of a GGUF file. Headers are read at once, tensors when they are
/// asked for. Immutable; any thread may read it.
class TensorFiles {
public:
    using File = std::variant<std::shared_ptr<const format::Safetensors>, std::shared_ptr<const GgufFile>>;

    /// `path` is a folder or a GGUF file. Throws Error(input) when a folder holds neither of the first two,
    /// naming the way to convert when it holds a PyTorch pickle; when the index and its files contradict each
    /// other; and what opening a file throws.
    static TensorFiles open(const std::string& path);
    /// Whether the folder holds model.safetensors or its index; nothing is read.
    static bool are_in(const std::string& folder);

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

private:
    template<class Opened>
    void add_opened(std::shared_ptr<const Opened> file);
    void add(const std::string& path);
    void read_index(const std::string& folder, const std::string& index);

    struct Place {
        std::size_t file;
        const format::TensorEntry* entry; ///< in files_[file], whose entries never move
    };
    std::string path_;
    std::vector<File> files_;
    std::map<std::string, Place, std::less<>> places_;
};

} // namespace headscope::checkpoint
