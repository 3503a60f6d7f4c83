#pragma once

#include "core/base/random_access_file.h"
#include "core/format/number_types.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// The first bytes of every .npy file.
inline constexpr std::string_view npy_magic = "\x93NUMPY";
/// The type of an array of records with named fields, which a header describes by a list.
inline constexpr std::string_view npy_records = "[...]";

/// The description of an array in a .npy file, of any type.
struct NpyDescription {
    std::string descr;                 ///< type in NumPy's spelling: "<f4", "<U7", "|O"; or npy_records
    std::vector<std::int64_t> extents; ///< outermost first
    bool is_fortran = false;           ///< the first axis varies fastest
    std::uint64_t data = 0;            ///< offset of the first number, in bytes
};

/// Fills a span with the bytes that start at `begin`.
using ReadBytes = std::function<void(std::uint64_t begin, std::span<char> to)>;

/// Reads only the header of `size` bytes in the format of .npy, versions 1 to 3
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). `name` is the name in messages.
/// Throws Error(input) with one sentence for another format or a malformed header.
NpyDescription read_npy_description(const std::string& name, std::uint64_t size, const ReadBytes& read);

/// The description of an array of floats in a .npy file.
struct NpyHeader {
    const NumberType* type = nullptr;  ///< never null after reading
    std::vector<std::int64_t> extents; ///< outermost first; row-major
    std::uint64_t data = 0;            ///< offset of the first number, in bytes
};

/// Throws Error(input) with one sentence if the array does not consist of 16, 32 or 64 bit floats in
/// row-major order (objects, records, integers, Fortran or big-endian order), or does not fit into `size`
/// bytes.
NpyHeader require_npy_floats(const NpyDescription& array, const std::string& name, std::uint64_t size);

/// Both, for a file.
NpyHeader read_npy_header(const RandomAccessFile& file);

} // namespace headscope::format
