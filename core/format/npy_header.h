#pragma once

#include "core/base/random_access_file.h"
#include "core/format/number_types.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace headscope::format {

/// The first bytes of every .npy file.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// The description of an array of floats in a .npy file.
struct NpyHeader {
    const NumberType* type = nullptr;  ///< never null after reading
    std::vector<std::int64_t> extents; ///< outermost first; row-major
    std::uint64_t data = 0;            ///< offset of the first number, in bytes
};

/// Reads only the header of a .npy file, versions 1 to 3
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). Throws Error(input) with one
/// sentence if the file is not an array of 16, 32 or 64 bit floats in row-major order: another format,
/// objects, integers, Fortran or big-endian order, a malformed header, or a header that does not match the
/// size of the file.
NpyHeader read_npy_header(const RandomAccessFile& file);

} // namespace headscope::format
