#pragma once

#include "core/base/random_access_file.h"
#include "core/format/float_numbers.h"

#include <cstdint>
#include <vector>

namespace headscope::format {

/// What a .npy file says about its array of floats.
struct NpyHeader {
    FloatType type = FloatType::f32;   ///< little-endian
    std::vector<std::int64_t> extents; ///< outermost first; row-major
    std::uint64_t data = 0;            ///< the byte at which the numbers begin
};

/// Reads the header of a .npy file, versions 1 to 3
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), and nothing else of it. Throws
/// Error(input) with one sentence for anything that is no array of 16, 32 or 64 bit floats in row-major
/// order: another format, objects, integers, Fortran or big-endian order, a header that is damaged or does
/// not fit the size of the file.
NpyHeader read_npy_header(const RandomAccessFile& file);

} // namespace headscope::format
