#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// One row of the table of number types in files (little-endian), with everything needed to read and write
/// them. A new type of number is a new row.
struct NumberType {
    std::string_view safetensors; ///< name in safetensors: "F16"
    std::string_view numpy;       ///< descr in a .npy file: "<f2"; empty if NumPy has no such type
    std::string_view name;        ///< display name: "float16"
    std::size_t width;            ///< bytes of one number
    /// Tolerance for the sum of a row of softmax weights that were written as this type.
    float sum_tolerance;
    /// Converts to.size() numbers from `from`, which need not be aligned. Numbers outside float32's range
    /// become an infinity. Null: never read as floating-point numbers.
    void (*read_floats)(std::span<const char> from, std::span<float> to);
    /// Reads the number at an address; null if float32 can represent every number of the type.
    double (*read_wide)(const char* from);
    /// Appends all numbers of `from`. Null: never read as integers.
    void (*read_integers)(std::span<const char> from, std::vector<std::int64_t>& to);
};

/// Finds a type by its name in safetensors, or in a .npy header; null if there is no such type.
const NumberType* find_safetensors_type(std::string_view name);
const NumberType* find_numpy_type(std::string_view descr);

/// The type that this program writes for a C++ type.
template<class Number>
const NumberType& type_of() = delete;
template<>
const NumberType& type_of<float>();
template<>
const NumberType& type_of<std::int64_t>();
template<>
const NumberType& type_of<bool>();

/// Fills `to` with numbers of a type that has `read_floats`. `read` is called for pieces of their bytes, each
/// of which starts at byte `first`, so that little memory is needed in addition to the numbers.
void read_in_pieces(const NumberType& type, std::span<float> to,
                    const std::function<void(std::uint64_t first, std::span<char> bytes)>& read);

/// "F32, F16, BF16 or F64": the safetensors names of the types that have `read_floats`.
std::string float_type_names();

} // namespace headscope::format
