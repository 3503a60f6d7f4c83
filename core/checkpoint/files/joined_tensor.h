#pragma once

#include "core/format/tensor_entry.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace headscope::checkpoint {

class TensorFiles;

/// A tensor whose numbers are computed from several tensors of the files. Immutable.
struct JoinedTensor {
    format::TensorEntry entry;      ///< its dtype names the way it is stored: "GPTQ4"
    std::vector<std::string> parts; ///< what it stands for in the files, at least one
    /// Fills `to`, which has as many numbers as the extents say. Throws Error(input) for parts that do not
    /// fit, and for files that have become shorter. Any thread.
    std::function<void(const TensorFiles& files, std::span<float> to)> read;
};

} // namespace headscope::checkpoint
