#include "core/checkpoint/quantized/unpack.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace headscope::checkpoint {

namespace {

constexpr std::int64_t bits_of_word = 32;
constexpr std::int64_t tile_side = 32; ///< numbers of a side: rows and columns of one stay in the cache

unsigned byte_at(std::span<const char> bytes, std::int64_t at) {
    return static_cast<unsigned char>(bytes[static_cast<std::size_t>(at)]);
}

std::uint32_t word_at(std::span<const char> bytes, std::int64_t at) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at * static_cast<std::int64_t>(sizeof word), sizeof word);
    return word;
}

/// Number `index` of a stream of `bits` each, whose words lie `stride` apart.
std::uint32_t from_stream(std::span<const char> words, std::int64_t first, std::int64_t stride,
                          std::int64_t index, std::int64_t bits) {
    const std::int64_t bit = index * bits, word = bit / bits_of_word, shift = bit % bits_of_word;
    std::uint64_t both = word_at(words, first + word * stride);
    if (shift + bits > bits_of_word)
        both |= static_cast<std::uint64_t>(word_at(words, first + (word + 1) * stride)) << bits_of_word;
    return static_cast<std::uint32_t>(both >> shift) & ((1U << bits) - 1);
}

/// The columns that the 8 parts of an int32 of AWQ belong to, lowest bits first.
constexpr std::array<std::int64_t, 8> awq_columns{0, 2, 4, 6, 1, 3, 5, 7};

const std::array<float, 256>& float8_table() {
    static const std::array<float, 256> table = [] {
        std::array<float, 256> numbers{};
        for (std::size_t byte = 0; byte < numbers.size(); ++byte)
            numbers.at(byte) = float8_e4m3(static_cast<unsigned char>(byte));
        return numbers;
    }();
    return table;
}

} // namespace

const std::array<float, 16> float4_e2m1{0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                        -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};

float float8_e4m3(unsigned char byte) {
    constexpr int mantissa_bits = 3, bias = 7;
    const int exponent = byte >> mantissa_bits & 15, mantissa = byte & 7;
    if (exponent == 15 && mantissa == 7)
        return std::numeric_limits<float>::quiet_NaN();
    const float size = exponent == 0
                           ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits)
                           : std::ldexp(static_cast<float>(mantissa + 8), exponent - bias - mantissa_bits);
    return (byte & 128) != 0 ? -size : size;
}

float float8_e8m0(unsigned char byte) {
    constexpr int bias = 127, nan = 255;
    return byte == nan ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0F, byte - bias);
}

void unpack(const GptqMatrix& matrix, std::span<float> to) {
    const std::int64_t words = matrix.d_out * matrix.bits / bits_of_word;
    const std::uint32_t most = (1U << matrix.bits) - 1;
    std::vector<float> zeros(static_cast<std::size_t>(matrix.groups * tile_side));
    for (std::int64_t first = 0; first < matrix.d_out; first += tile_side) {
        const std::int64_t last = std::min(first + tile_side, matrix.d_out);
        for (std::int64_t group = 0; group < matrix.groups; ++group)
            for (std::int64_t column = first; column < last; ++column) {
                const std::uint32_t stored = from_stream(matrix.zeros, group * words, 1, column, matrix.bits);
                zeros[static_cast<std::size_t>(group * tile_side + column - first)] =
                    static_cast<float>(matrix.zeros_less_one ? (stored + 1) & most : stored);
            }
        for (std::int64_t row = 0; row < matrix.d_in; ++row) {
            const std::int64_t group = matrix.group_of[static_cast<std::size_t>(row)];
            const float* const zero = zeros.data() + group * tile_side - first;
            const float* const scale = matrix.scales.data() + group * matrix.d_out;
            for (std::int64_t column = first; column < last; ++column) {
                const auto number =
                    static_cast<float>(from_stream(matrix.numbers, column, matrix.d_out, row, matrix.bits));
                to[static_cast<std::size_t>(column * matrix.d_in + row)] =
                    scale[column] * (number - zero[column]);
            }
        }
    }
}

void unpack(const AwqMatrix& matrix, std::span<float> to) {
    constexpr std::int64_t per_word = 8, bits = 4;
    const std::int64_t words = matrix.d_out / per_word, size = matrix.d_in / matrix.groups;
    for (std::int64_t first = 0; first < matrix.d_in; first += tile_side) {
        const std::int64_t last = std::min(first + tile_side, matrix.d_in);
        for (std::int64_t word = 0; word < words; ++word)
            for (std::int64_t row = first; row < last; ++row) {
                const std::int64_t group = row / size;
                const std::uint32_t numbers = word_at(matrix.numbers, row * words + word),
                                    zeros = word_at(matrix.zeros, group * words + word);
                for (std::int64_t part = 0; part < per_word; ++part) {
                    const std::int64_t column = word * per_word + awq_columns[static_cast<std::size_t>(part)];
                    const float number = static_cast<float>(numbers >> (bits * part) & 15U) -
                                         static_cast<float>(zeros >> (bits * part) & 15U);
                    to[static_cast<std::size_t>(column * matrix.d_in + row)] =
                        matrix.scales[static_cast<std::size_t>(group * matrix.d_out + column)] * number;
                }
            }
    }
}

void unpack(const TableNumbers& numbers, std::span<float> to) {
    const auto block = static_cast<std::size_t>(numbers.block);
    for (std::size_t i = 0; i < to.size(); ++i) {
        const unsigned both = static_cast<unsigned char>(numbers.positions[i / 2]);
        to[i] = numbers.table.at(i % 2 == 0 ? both >> 4U : both & 15U) * numbers.largest[i / block];
    }
}

void unpack(const QuantizedScales& scales, std::span<float> to) {
    const auto block = static_cast<std::size_t>(scales.block);
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = scales.table[static_cast<unsigned char>(scales.positions[i])] * scales.largest[i / block] +
                scales.offset;
}

void unpack_int8(std::span<const char> numbers, std::span<const float> largest_of_row, std::span<float> to) {
    constexpr float step = 1.0F / 127.0F;
    const std::size_t width = to.size() / largest_of_row.size();
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<float>(static_cast<signed char>(numbers[i])) * largest_of_row[i / width] * step;
}

void unpack(const Mxfp4Matrices& matrices, std::span<float> to) {
    constexpr std::int64_t size = 32, bytes = 16;
    const std::int64_t columns = matrices.blocks * size;
    std::array<float, tile_side * size> square{};
    for (std::int64_t matrix = 0; matrix < matrices.count; ++matrix)
        for (std::int64_t first = 0; first < matrices.rows; first += tile_side) {
            const std::int64_t height = std::min(tile_side, matrices.rows - first);
            for (std::int64_t block = 0; block < matrices.blocks; ++block) {
                for (std::int64_t row = 0; row < height; ++row) {
                    const std::int64_t at = (matrix * matrices.rows + first + row) * matrices.blocks + block;
                    const float scale =
                        float8_e8m0(static_cast<unsigned char>(byte_at(matrices.exponents, at)));
                    for (std::int64_t i = 0; i < size; ++i) {
                        const unsigned both = byte_at(matrices.numbers, at * bytes + i / 2);
                        square.at(static_cast<std::size_t>(i * tile_side + row)) =
                            float4_e2m1.at(i % 2 == 0 ? both & 15U : both >> 4U) * scale;
                    }
                }
                for (std::int64_t i = 0; i < size; ++i)
                    std::copy_n(square.data() + i * tile_side, height,
                                to.data() + (matrix * columns + block * size + i) * matrices.rows + first);
            }
        }
}

void unpack(const Float8Matrix& matrix, std::span<float> to) {
    const std::array<float, 256>& table = float8_table();
    const std::int64_t across = (matrix.columns + matrix.width - 1) / matrix.width;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const float* const scales = matrix.scales.data() + row / matrix.height * across;
        for (std::int64_t column = 0; column < matrix.columns; ++column) {
            const std::int64_t at = row * matrix.columns + column;
            to[static_cast<std::size_t>(at)] =
                table.at(byte_at(matrix.numbers, at)) * scales[column / matrix.width];
        }
    }
}

} // namespace headscope::checkpoint
