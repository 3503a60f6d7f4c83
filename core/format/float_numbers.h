#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace headscope::format {

/// Floating-point numbers as files hold them, little-endian. f16 is IEEE 754 binary16; bf16 the upper half of
/// a float32.
enum class FloatType : std::uint8_t { f16, bf16, f32, f64 };

/// Bytes of one number.
std::size_t width_of(FloatType type);
/// "float16", "bfloat16", "float32", "float64".
std::string_view name_of(FloatType type);
/// By the name that safetensors gives it: "F16", "BF16", "F32", "F64".
std::optional<FloatType> find_float_type(std::string_view safetensors_name);

/// Converts `to.size()` numbers, which `from` holds at any address. A float64 that float32 cannot hold
/// becomes an infinity.
void read_floats(FloatType type, std::span<const char> from, std::span<float> to);

} // namespace headscope::format
