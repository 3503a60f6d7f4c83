#pragma once

#include "core/format/safetensors.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::checkpoint {

/// The tensors of a checkpoint folder: model.safetensors, or the files that model.safetensors.index.json
/// names. Headers are read at once, tensors when they are asked for. Immutable; any thread may read it.
class TensorFiles {
public:
    /// Throws Error(input) when the folder holds neither, naming the way to convert when it holds a PyTorch
    /// pickle; and when the index and its files contradict each other.
    static TensorFiles open(const std::string& folder);
    /// Whether the folder holds one of the two; nothing is read.
    static bool are_in(const std::string& folder);

    /// In the order in which they were opened.
    const std::vector<std::shared_ptr<const format::Safetensors>>& files() const { return files_; }
    /// All tensors, ordered by name.
    std::vector<const format::SafetensorsEntry*> entries() const;
    /// Null when there is no such tensor.
    const format::SafetensorsEntry* find(std::string_view name) const;
    /// As float32; throws like Safetensors::tensor, and when a number is NaN or infinite.
    TensorPtr tensor(std::string_view name) const;

private:
    void add(const std::string& path);
    void read_index(const std::string& folder, const std::string& index);

    struct Place {
        std::size_t file;
        const format::SafetensorsEntry* entry; ///< in files_[file], whose entries never move
    };
    std::string folder_;
    std::vector<std::shared_ptr<const format::Safetensors>> files_;
    std::map<std::string, Place, std::less<>> places_;
};

} // namespace headscope::checkpoint
