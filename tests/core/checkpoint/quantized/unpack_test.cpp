#include "core/checkpoint/quantized/unpack.h"

#include "tests/catch.h"

#include <bitset>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

using namespace headscope::checkpoint;

namespace {

/// The bytes of words of 32 bits.
std::string packed_words(const std::vector<std::uint32_t>& numbers) {
    std::string bytes(numbers.size() * sizeof(std::uint32_t), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

} // namespace

TEST_CASE("numbers of 8-bit and 4-bit floating-point formats") {
    // Micikevicius et al. 2022, table 1: the largest, the smallest normal and the smallest number of E4M3.
    CHECK((float8_e4m3(0x7E) == 448.0F && float8_e4m3(0x08) == 0x1p-6F && float8_e4m3(0x01) == 0x1p-9F));
    CHECK((float8_e4m3(0x38) == 1.0F && float8_e4m3(0xB9) == -1.125F && float8_e4m3(0x80) == 0.0F));
    CHECK((std::isnan(float8_e4m3(0x7F)) && std::isnan(float8_e4m3(0xFF))));
    CHECK((float8_e8m0(127) == 1.0F && float8_e8m0(0) == 0x1p-127F && float8_e8m0(254) == 0x1p127F));
    CHECK(std::isnan(float8_e8m0(255)));
    CHECK((float4_e2m1[1] == 0.5F && float4_e2m1[7] == 6.0F && float4_e2m1[15] == -6.0F));
}

TEST_CASE("GPTQ: rows of a word, and zeros that are stored minus 1 or as they are") {
    // One column of 8 inputs with the numbers 0 to 7, beside seven of zeros; the zero of the first is 3.
    std::vector<std::uint32_t> numbers(8, 0);
    numbers[0] = 0x76543210U;
    const std::string packed = packed_words(numbers), zeros = packed_words({0x22222222U});
    const std::vector<float> scales(8, 0.5F);
    const std::vector<std::int64_t> group_of(8, 0);
    GptqMatrix matrix{.d_in = 8,
                      .d_out = 8,
                      .groups = 1,
                      .numbers = packed,
                      .zeros = zeros,
                      .scales = scales,
                      .group_of = group_of};
    std::vector<float> out(64);
    unpack(matrix, out);
    CHECK(std::vector(out.begin(), out.begin() + 8) ==
          std::vector{-1.5F, -1.0F, -0.5F, 0.0F, 0.5F, 1.0F, 1.5F, 2.0F});
    CHECK(out[8] == -1.5F);
    matrix.zeros_less_one = false;
    unpack(matrix, out);
    CHECK((out[0] == -1.0F && out[2] == 0.0F));
}

TEST_CASE("GPTQ with 3 bits: numbers across two words") {
    // 32 numbers 7, 6, 5, ... in three words, for each of 32 columns.
    std::vector<std::uint32_t> numbers(96);
    std::vector<float> expected;
    std::bitset<96> stream;
    for (unsigned k = 0; k < 32; ++k) {
        stream |= std::bitset<96>(7 - k % 8) << std::size_t{3} * k;
        expected.push_back(static_cast<float>(7 - k % 8) - 1.0F);
    }
    for (std::size_t word = 0; word < 3; ++word)
        for (std::size_t column = 0; column < 32; ++column)
            numbers[word * 32 + column] =
                static_cast<std::uint32_t>(((stream >> 32 * word) & std::bitset<96>(0xFFFFFFFF)).to_ulong());
    const std::string packed = packed_words(numbers), zeros(12, '\0');
    const std::vector<float> scales(32, 1.0F);
    const std::vector<std::int64_t> group_of(32, 0);
    std::vector<float> out(std::size_t{32} * 32);
    unpack(GptqMatrix{.d_in = 32,
                      .d_out = 32,
                      .groups = 1,
                      .bits = 3,
                      .numbers = packed,
                      .zeros = zeros,
                      .scales = scales,
                      .group_of = group_of},
           out);
    CHECK(std::vector(out.begin(), out.begin() + 32) == expected);
    CHECK(std::vector(out.end() - 32, out.end()) == expected);
}

TEST_CASE("AWQ: even columns of a word before odd ones") {
    const std::string packed = packed_words({0x76543210U, 0x00000001U}), zeros = packed_words({0U});
    const std::vector<float> scales{1, 1, 1, 1, 1, 1, 1, 10};
    std::vector<float> out(16);
    unpack(AwqMatrix{.d_in = 2, .d_out = 8, .groups = 1, .numbers = packed, .zeros = zeros, .scales = scales},
           out);
    // Column c of the first input has part {0, 4, 1, 5, 2, 6, 3, 7}[c].
    CHECK(out == std::vector<float>{0, 1, 4, 0, 1, 0, 5, 0, 2, 0, 6, 0, 3, 0, 70, 0});
}

TEST_CASE("bitsandbytes: the high half of a byte first, scales that were quantized once more, and int8") {
    TableNumbers numbers{.block = 2, .positions = {}, .table = {}, .largest = {}};
    for (std::size_t i = 0; i < 16; ++i)
        numbers.table.at(i) = static_cast<float>(i);
    const std::string positions("\x12\x3F", 2);
    const std::vector<float> largest{1, 10};
    numbers.positions = positions;
    numbers.largest = largest;
    std::vector<float> out(4);
    unpack(numbers, out);
    CHECK(out == std::vector<float>{1, 2, 30, 150});
    std::vector<float> table(256, 0.0F);
    table[200] = 0.5F;
    const std::string stored("\xC8\x00\xC8", 3);
    out.resize(3);
    unpack(QuantizedScales{.block = 2, .positions = stored, .table = table, .largest = largest, .offset = 1},
           out);
    CHECK(out == std::vector<float>{1.5F, 1, 6});
    out.resize(4);
    unpack_int8(std::string("\x7F\x81\x00\x7F", 4), std::vector<float>{2, 3}, out);
    CHECK(out == std::vector<float>{2, -2, 0, 3});
}

TEST_CASE("MXFP4: the low half of a byte first, and each matrix transposed") {
    std::string numbers(32, '\0');
    numbers[0] = '\x21';                        // row 0, columns 0 and 1: 0.5 and 1
    numbers[16] = '\xF0';                       // row 1, column 1: -6
    const std::string exponents("\x80\x7E", 2); // times 2 and 1/2
    std::vector<float> out(64);
    unpack(Mxfp4Matrices{.count = 1, .rows = 2, .blocks = 1, .numbers = numbers, .exponents = exponents},
           out);
    CHECK(std::vector(out.begin(), out.begin() + 4) == std::vector<float>{1, 0, 2, -3});
}

TEST_CASE("FP8: blocks at the edge are smaller") {
    const std::string numbers(6, '\x38'); // ones
    const std::vector<float> scales{1, 2, 3, 4};
    std::vector<float> out(6);
    unpack(
        Float8Matrix{.rows = 2, .columns = 3, .height = 1, .width = 2, .numbers = numbers, .scales = scales},
        out);
    CHECK(out == std::vector<float>{1, 1, 2, 3, 3, 4});
}
