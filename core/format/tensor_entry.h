#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::format {

/// What the header of a file says of one tensor.
struct TensorEntry {
    std::string name;
    std::string dtype;                 ///< in the format's own spelling: "F32", "BF16", "Q4_K"
    std::vector<std::int64_t> extents; ///< outermost first

    std::string shape_text() const { return extents_text(extents); }
};

/// Throws Error(input) naming `source`, the file, when the tensor has more axes than Shape has.
Shape shape_of(const TensorEntry& entry, const std::string& source);

} // namespace headscope::format
