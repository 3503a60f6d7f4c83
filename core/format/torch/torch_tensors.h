#pragma once

#include "core/format/number_types.h"
#include "core/format/tensor_entry.h"
#include "core/format/torch/pickle.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// One tensor of a PyTorch file, of up to 8 axes. `dtype` is the name in safetensors. All its numbers are in
/// the file.
struct TorchEntry : TensorEntry {
    const NumberType* type = nullptr;
    std::uint64_t begin = 0;           ///< offset in the file of the first number
    std::vector<std::int64_t> strides; ///< distance in numbers between neighbors along each axis, 0 or more
    bool contiguous = false;           ///< the numbers follow each other, as in safetensors
};

/// The numbers that tensors refer to. Several tensors may share one storage.
struct TorchStorage {
    std::string_view key;              ///< the name of its bytes in the file
    const TorchGlobal* type = nullptr; ///< the type of each number
    std::uint64_t numbers = 0;         ///< the count in the bytes called `key`
    std::uint64_t first = 0;           ///< the position among them at which the storage begins
    std::uint64_t used = 0;            ///< the count that belongs to the storage
    std::uint64_t bytes() const { return numbers * type->width; }
};

/// The storages that a pickle refers to, in the order of the pickle. Throws Error(input).
std::vector<TorchStorage> torch_storages(const Pickle& pickle, const std::string& source);

/// Whole numbers and flags (1 or 0) in the dictionaries that a trainer saved beside the tensors, by the keys
/// on the way: "model_args.n_head". At most a hundred of each dictionary.
using TorchSettings = std::map<std::string, std::int64_t, std::less<>>;
TorchSettings torch_settings(const Pickle& pickle);

/// The tensors with names that a pickle contains, sorted by name. The dictionary is the pickle's own value
/// or, when a trainer put it with other things into a dictionary, its entry "state_dict",
/// "model_state_dict", "model" or "module". The prefixes "module." (of DataParallel) and "_orig_mod." (of
/// torch.compile) are removed if all names have them; other entries are skipped. `locate` returns the offset
/// in the file of the bytes of a storage. Throws Error(input) with `source`, the tensor and the problem: its
/// numbers are not all in the storage, or it is sparse, quantized or of complex128 numbers.
std::vector<TorchEntry> torch_tensors(const Pickle& pickle, std::uint64_t file_bytes,
                                      const std::function<std::uint64_t(const TorchStorage&)>& locate,
                                      const std::string& source);

} // namespace headscope::format
