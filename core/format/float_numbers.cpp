#include "core/format/float_numbers.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>

// Numbers are copied out as they lie in the file, which is little-endian.
static_assert(std::endian::native == std::endian::little, "files of numbers need byte swapping here");

namespace headscope::format {

namespace {

struct TypeInfo {
    FloatType type;
    std::size_t width;
    std::string_view name, safetensors;
};

constexpr std::array<TypeInfo, 4> types{{{FloatType::f16, 2, "float16", "F16"},
                                         {FloatType::bf16, 2, "bfloat16", "BF16"},
                                         {FloatType::f32, 4, "float32", "F32"},
                                         {FloatType::f64, 8, "float64", "F64"}}};

const TypeInfo& info_of(FloatType type) {
    return types[static_cast<std::size_t>(type)];
}

/// The bits of a binary16 read as a float32 are the same number times 2^-112, subnormals included.
float half_value(std::uint16_t half) {
    constexpr std::uint32_t first_not_finite = 0x0F800000U, all_exponent_bits = 0x7F800000U;
    const std::uint32_t sign = (half & 0x8000U) << 16U, size = (half & 0x7FFFU) << 13U;
    std::uint32_t bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) * 0x1p112F);
    bits |= size >= first_not_finite ? all_exponent_bits : 0U;
    return std::bit_cast<float>(bits | sign);
}

template<class Number, class Convert>
void convert(std::span<const char> from, std::span<float> to, Convert as_float) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        Number number;
        std::memcpy(&number, from.data() + i * sizeof(Number), sizeof(Number));
        to[i] = as_float(number);
    }
}

} // namespace

std::size_t width_of(FloatType type) {
    return info_of(type).width;
}

std::string_view name_of(FloatType type) {
    return info_of(type).name;
}

std::optional<FloatType> find_float_type(std::string_view safetensors_name) {
    for (const TypeInfo& info : types)
        if (info.safetensors == safetensors_name)
            return info.type;
    return std::nullopt;
}

void read_floats(FloatType type, std::span<const char> from, std::span<float> to) {
    switch (type) {
    case FloatType::f16:
        return convert<std::uint16_t>(from, to, half_value);
    case FloatType::bf16:
        return convert<std::uint16_t>(from, to, [](std::uint16_t bits) {
            return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
        });
    case FloatType::f32:
        std::memcpy(to.data(), from.data(), to.size_bytes());
        return;
    case FloatType::f64:
        return convert<double>(from, to, [](double number) { return static_cast<float>(number); });
    }
}

} // namespace headscope::format
