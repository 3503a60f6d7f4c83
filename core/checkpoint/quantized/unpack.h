#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace headscope::checkpoint {

// Arithmetic of quantized matrices: integers or narrow floating-point numbers times a scale, in float32. The
// callers have compared the lengths of all parts with the sizes. Integers are little-endian, at any address.
// Any thread.

/// A matrix (d_out, d_in) of GPTQ (Frantar et al. 2022), as AutoGPTQ and GPTQModel pack it. The numbers of a
/// column are a stream of `bits` each, lowest bits first, through the rows of int32.
struct GptqMatrix {
    std::int64_t d_in = 0, d_out = 0, groups = 0;
    std::int64_t bits = 4;                  ///< 2, 3, 4 or 8
    bool zeros_less_one = true;             ///< the zeros are stored minus 1; false in the format gptq_v2
    std::span<const char> numbers;          ///< int32 (d_in bits / 32, d_out)
    std::span<const char> zeros;            ///< int32 (groups, d_out bits / 32)
    std::span<const float> scales;          ///< (groups, d_out)
    std::span<const std::int64_t> group_of; ///< (d_in), each below `groups`
};
/// `to` is (d_out, d_in).
void unpack(const GptqMatrix& matrix, std::span<float> to);

/// A matrix of AWQ (Lin et al. 2023) in its layout GEMM: 8 columns of 4 bits in an int32, the even ones
/// first.
struct AwqMatrix {
    std::int64_t d_in = 0, d_out = 0, groups = 0;
    std::span<const char> numbers; ///< int32 (d_in, d_out / 8)
    std::span<const char> zeros;   ///< int32 (groups, d_out / 8)
    std::span<const float> scales; ///< (groups, d_out); d_in is a multiple of `groups`
};
/// `to` is (d_out, d_in).
void unpack(const AwqMatrix& matrix, std::span<float> to);

/// Numbers of bitsandbytes with 4 bits (Dettmers et al. 2023, "QLoRA", section 3): positions in a table, the
/// high half of a byte first, times the largest size of their block.
struct TableNumbers {
    std::int64_t block = 64; ///< numbers that share a scale
    std::span<const char> positions;
    std::array<float, 16> table{};
    std::span<const float> largest; ///< of each block
};
void unpack(const TableNumbers& numbers, std::span<float> to);

/// Turns the scales of such numbers, which were quantized once more, into float32.
struct QuantizedScales {
    std::int64_t block = 256;
    std::span<const char> positions; ///< a byte each
    std::span<const float> table;    ///< 256 numbers
    std::span<const float> largest;  ///< of each block
    float offset = 0;                ///< added to each
};
void unpack(const QuantizedScales& scales, std::span<float> to);

/// Rows of int8 numbers times a scale / 127 each, as LLM.int8() stores them (Dettmers et al. 2022).
void unpack_int8(std::span<const char> numbers, std::span<const float> largest_of_row, std::span<float> to);

/// Matrices in MXFP4 (Open Compute Project 2023, "OCP Microscaling Formats (MX) Specification", sections 5.3
/// and 6.3): blocks of 32 numbers of 4 bits, the low half of a byte first, and a power of two for each.
struct Mxfp4Matrices {
    std::int64_t count = 0, rows = 0, blocks = 0; ///< blocks in a row
    std::span<const char> numbers;                ///< (count, rows, blocks, 16) bytes
    std::span<const char> exponents;              ///< (count, rows, blocks) bytes, biased by 127; 255 is NaN
};
/// `to` is (count, 32 blocks, rows): each matrix is transposed.
void unpack(const Mxfp4Matrices& matrices, std::span<float> to);

/// A matrix of 8-bit floating-point numbers E4M3 (Micikevicius et al. 2022, "FP8 Formats for Deep Learning"),
/// where each block of (height, width) has a scale. Blocks at the right and lower edge may be smaller.
struct Float8Matrix {
    std::int64_t rows = 0, columns = 0, height = 1, width = 1;
    std::span<const char> numbers;
    std::span<const float> scales; ///< (ceil(rows / height), ceil(columns / width))
};
/// `to` is (rows, columns). Patterns that are NaN give NaN.
void unpack(const Float8Matrix& matrix, std::span<float> to);

/// The number of one byte E4M3; of one byte E8M0, a power of two.
float float8_e4m3(unsigned char byte);
float float8_e8m0(unsigned char byte);
/// The 16 numbers of 4 bits E2M1.
extern const std::array<float, 16> float4_e2m1;

} // namespace headscope::checkpoint
