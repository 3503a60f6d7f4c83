#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// One row of the table of the numbers that files hold, little-endian: everything that reading and writing
/// them takes. A new type of number is a row.
struct NumberType {
    std::string_view safetensors; ///< its name there: "F16"
    std::string_view numpy;       ///< its descr in a .npy file: "<f2"; empty where NumPy has no such type
    std::string_view name;        ///< for people: "float16"
    std::size_t width;            ///< bytes of one number
    /// How far the sum of a row of softmax weights may be from 1 when they are written as this type.
    float sum_tolerance;
    /// Converts to.size() numbers, which `from` holds at any address. What float32 cannot hold becomes an
    /// infinity. Null: never read as floating-point numbers.
    void (*read_floats)(std::span<const char> from, std::span<float> to);
    /// The number at an address where float32 cannot hold every number of the type, else null.
    double (*read_wide)(const char* from);
    /// Appends all numbers of `from`. Null: never read as whole numbers.
    void (*read_integers)(std::span<const char> from, std::vector<std::int64_t>& to);
};

/// By the name that safetensors, or a .npy header, gives it; null when there is no such type.
const NumberType* find_safetensors_type(std::string_view name);
const NumberType* find_numpy_type(std::string_view descr);

/// The type of the numbers of this program, as it writes them.
template<class Number>
const NumberType& type_of() = delete;
template<>
const NumberType& type_of<float>();
template<>
const NumberType& type_of<std::int64_t>();
template<>
const NumberType& type_of<bool>();

/// Fills `to` with numbers of the type, one of those that have a `read_floats`. `read` gets their bytes in
/// pieces, from byte `first` of them on, so that those need little memory beside the numbers.
void read_in_pieces(const NumberType& type, std::span<float> to,
                    const std::function<void(std::uint64_t first, std::span<char> bytes)>& read);

/// "F32, F16, BF16 or F64": the names in safetensors of the types that have a `read_floats`.
std::string float_type_names();

} // namespace headscope::format
