#pragma once

#include "core/tensor/tensor.h"

#include <string>
#include <string_view>

namespace headscope::format {

/// The bytes of a NumPy .npy file, version 1.0, float32, row-major
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
std::string npy_bytes(const Tensor& tensor);
/// The part of that file before the numbers.
std::string npy_header(const Shape& shape);
/// The same for an array of another type, in NumPy's spelling: "<i8", "<U7".
std::string npy_header(std::string_view descr, const Shape& shape);

} // namespace headscope::format
