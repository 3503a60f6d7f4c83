#include "core/format/number_types.h"

#include "core/base/joined.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

// Numbers are copied in the byte order of the file, which is little-endian.
static_assert(std::endian::native == std::endian::little, "files of numbers need byte swapping here");

namespace headscope::format {

namespace {

template<class Number>
Number number_at(const char* from) {
    Number number;
    std::memcpy(&number, from, sizeof(Number));
    return number;
}

/// The bits of a binary16, read as a float32, are the same number times 2^-112, including subnormals.
float half_value(std::uint16_t half) {
    constexpr std::uint32_t first_not_finite = 0x0F800000U, all_exponent_bits = 0x7F800000U;
    const std::uint32_t sign = (half & 0x8000U) << 16U, size = (half & 0x7FFFU) << 13U;
    std::uint32_t bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) * 0x1p112F);
    bits |= size >= first_not_finite ? all_exponent_bits : 0U;
    return std::bit_cast<float>(bits | sign);
}

/// A bfloat16 is the upper half of a float32.
float brain_value(std::uint16_t upper_half) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(upper_half) << 16U);
}

float narrowed(double number) {
    return static_cast<float>(number);
}

template<class Number, float (*as_float)(Number)>
void converted(std::span<const char> from, std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = as_float(number_at<Number>(from.data() + i * sizeof(Number)));
}

void copied(std::span<const char> from, std::span<float> to) {
    std::memcpy(to.data(), from.data(), to.size_bytes());
}

template<class Number>
void integers(std::span<const char> from, std::vector<std::int64_t>& to) {
    to.reserve(to.size() + from.size() / sizeof(Number));
    for (std::size_t at = 0; at + sizeof(Number) <= from.size(); at += sizeof(Number))
        to.push_back(static_cast<std::int64_t>(number_at<Number>(from.data() + at)));
}

constexpr NumberType floats(std::string_view safetensors, std::string_view numpy, std::string_view name,
                            std::size_t width, float sum_tolerance,
                            void (*read)(std::span<const char>, std::span<float>),
                            double (*read_wide)(const char*) = nullptr) {
    return {safetensors, numpy, name, width, sum_tolerance, read, read_wide, nullptr};
}

constexpr NumberType whole(std::string_view safetensors, std::string_view numpy, std::string_view name,
                           std::size_t width,
                           void (*read)(std::span<const char>, std::vector<std::int64_t>&)) {
    return {safetensors, numpy, name, width, 0, nullptr, nullptr, read};
}

/// Messages list the floats in this order.
constexpr std::array table{
    floats("F32", "<f4", "float32", 4, 1e-4F, copied),
    floats("F16", "<f2", "float16", 2, 2e-3F, converted<std::uint16_t, half_value>),
    floats("BF16", "", "bfloat16", 2, 1e-2F, converted<std::uint16_t, brain_value>),
    floats("F64", "<f8", "float64", 8, 1e-4F, converted<double, narrowed>, number_at<double>),
    whole("I64", "<i8", "int64", 8, integers<std::int64_t>),
    whole("I32", "<i4", "int32", 4, integers<std::int32_t>),
    whole("I16", "<i2", "int16", 2, integers<std::int16_t>),
    whole("I8", "|i1", "int8", 1, integers<std::int8_t>),
    whole("U32", "<u4", "uint32", 4, integers<std::uint32_t>),
    whole("U16", "<u2", "uint16", 2, integers<std::uint16_t>),
    whole("U8", "|u1", "uint8", 1, integers<std::uint8_t>),
    whole("BOOL", "|b1", "bool", 1, integers<std::uint8_t>),
    // Types that files may contain but this program does not read.
    whole("U64", "<u8", "uint64", 8, nullptr), whole("F8_E5M2", "", "float8_e5m2", 1, nullptr),
    whole("F8_E4M3", "", "float8_e4m3", 1, nullptr), whole("F8_E8M0", "", "float8_e8m0", 1, nullptr),
    whole("F8_E5M2FNUZ", "", "float8_e5m2fnuz", 1, nullptr),
    whole("F8_E4M3FNUZ", "", "float8_e4m3fnuz", 1, nullptr), whole("C64", "", "complex64", 8, nullptr)};

const NumberType* find(std::string_view NumberType::*key, std::string_view value) {
    const auto row = std::ranges::find(table, value, key);
    return row == table.end() || value.empty() ? nullptr : &*row;
}

} // namespace

const NumberType* find_safetensors_type(std::string_view name) {
    return find(&NumberType::safetensors, name);
}

const NumberType* find_numpy_type(std::string_view descr) {
    return find(&NumberType::numpy, descr);
}

template<>
const NumberType& type_of<float>() {
    return *find_safetensors_type("F32");
}

template<>
const NumberType& type_of<std::int64_t>() {
    return *find_safetensors_type("I64");
}

template<>
const NumberType& type_of<bool>() {
    return *find_safetensors_type("BOOL");
}

void read_in_pieces(const NumberType& type, std::span<float> to,
                    const std::function<void(std::uint64_t, std::span<char>)>& read) {
    constexpr std::size_t piece = std::size_t{1} << 18U;
    std::vector<char> bytes(std::min(piece, to.size()) * type.width);
    for (std::size_t done = 0; done < to.size(); done += piece) {
        const std::span<float> part = to.subspan(done, std::min(piece, to.size() - done));
        const std::span<char> room(bytes.data(), part.size() * type.width);
        read(done * type.width, room);
        type.read_floats(room, part);
    }
}

std::string float_type_names() {
    std::vector<std::string_view> names;
    for (const NumberType& type : table)
        if (type.read_floats != nullptr)
            names.push_back(type.safetensors);
    return tr("common.or", "{} or {}", joined(std::span(names).first(names.size() - 1)), names.back());
}

} // namespace headscope::format
