#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::format {

/// The description of one tensor in the header of a file.
struct TensorEntry {
    std::string name;
    std::string dtype;                 ///< in the format's own spelling: "F32", "BF16", "Q4_K"
    std::vector<std::int64_t> extents; ///< outermost first

    std::string shape_text() const { return extents_text(extents); }
};

/// Throws Error(input) with `source`, the file, if the tensor has more axes than Shape supports.
Shape shape_of(const TensorEntry& entry, const std::string& source);

} // namespace headscope::format
