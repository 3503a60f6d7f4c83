#include "core/checkpoint/gguf/gguf_types.h"

#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/gguf/gguf_block.h"
#include "core/checkpoint/gguf/gguf_grid_types.h"
#include "core/checkpoint/quantized/unpack.h"
#include "core/format/number_types.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::checkpoint {

namespace {

constexpr std::size_t small = 32, large = 256; // numbers of a block

/// Half a byte for each number: the low halves of 16 bytes, then the high ones.
unsigned nibble(GgufBlock block, std::size_t from, std::size_t i) {
    return block.at(from + i % 16) >> (i < 16 ? 0U : 4U) & 15U;
}

void q4_0(GgufBlock block, std::span<float, small> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = (static_cast<float>(nibble(block, 2, i)) - 8.0F) * d;
}

void q4_1(GgufBlock block, std::span<float, small> to) {
    const float d = block.half(0), least = block.half(2);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = static_cast<float>(nibble(block, 4, i)) * d + least;
}

/// With a fifth bit: bit i of the 32 that begin at byte `high`.
float five_bits(GgufBlock block, std::size_t high, std::size_t i) {
    const unsigned fifth = block.at(high + i / 8) >> i % 8 & 1U;
    return static_cast<float>(nibble(block, high + 4, i) | fifth << 4U);
}

void q5_0(GgufBlock block, std::span<float, small> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = (five_bits(block, 2, i) - 16.0F) * d;
}

void q5_1(GgufBlock block, std::span<float, small> to) {
    const float d = block.half(0), least = block.half(2);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = five_bits(block, 4, i) * d + least;
}

void q8_0(GgufBlock block, std::span<float, small> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = block.whole(2 + i) * d;
}

/// What the 4 bits of IQ4_NL and IQ4_XS stand for: steps that grow with the distance from 0.
constexpr std::array<float, 16> uneven_steps{-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};

void iq4_nl(GgufBlock block, std::span<float, small> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = d * uneven_steps.at(nibble(block, 2, i));
}

// The blocks of 256 hold groups of 16 or 32 numbers with a scale of their own. Several numbers that are 32 or
// 64 apart share a byte.

void q2_k(GgufBlock block, std::span<float, large> to) {
    constexpr std::size_t quants = 16, scale = 80;
    const float d = block.half(scale), least = block.half(scale + 2);
    for (std::size_t i = 0; i < large; ++i) {
        const unsigned both = block.at(i / 16);
        const unsigned q = block.at(quants + i / 128 * 32 + i % 32) >> i % 128 / 32 * 2 & 3U;
        to[i] = d * static_cast<float>(both & 15U) * static_cast<float>(q) -
                least * static_cast<float>(both >> 4U);
    }
}

void q3_k(GgufBlock block, std::span<float, large> to) {
    constexpr std::size_t quants = 32, scales = 96, scale = 108;
    const float d = block.half(scale);
    for (std::size_t i = 0; i < large; ++i) {
        const std::size_t group = i / 16;
        const unsigned low = block.at(scales + group % 8) >> (group < 8 ? 0U : 4U) & 15U;
        const unsigned high = block.at(scales + 8 + group % 4) >> group / 4 * 2 & 3U;
        const unsigned q = block.at(quants + i / 128 * 32 + i % 32) >> i % 128 / 32 * 2 & 3U;
        const bool third_bit = (block.at(i % 32) >> i / 32 & 1U) != 0;
        to[i] = d * (static_cast<float>(low | high << 4U) - 32.0F) *
                (static_cast<float>(q) - (third_bit ? 0.0F : 4.0F));
    }
}

/// The 8 scales and minima of Q4_K and Q5_K, 6 bits each, in the 12 bytes from byte 4 on.
struct Group {
    float scale, least;
};
Group group_of(GgufBlock block, std::size_t group) {
    constexpr std::size_t from = 4;
    if (group < 4)
        return {static_cast<float>(block.at(from + group) & 63U),
                static_cast<float>(block.at(from + 4 + group) & 63U)};
    const unsigned low = block.at(from + 4 + group);
    return {static_cast<float>((low & 15U) | block.at(from + group - 4) >> 6U << 4U),
            static_cast<float>(low >> 4U | block.at(from + group) >> 6U << 4U)};
}

/// fifth_bits: where 32 bytes with another bit for each number begin; 0: there are none.
template<std::size_t quants, std::size_t fifth_bits>
void q4_or_q5_k(GgufBlock block, std::span<float, large> to) {
    const float d = block.half(0), least = block.half(2);
    for (std::size_t group = 0; group < 8; ++group) {
        const Group own = group_of(block, group);
        const float scale = d * own.scale, minimum = least * own.least;
        for (std::size_t l = 0; l < 32; ++l) {
            unsigned q = block.at(quants + group / 2 * 32 + l) >> group % 2 * 4 & 15U;
            if constexpr (fifth_bits != 0)
                q |= (block.at(fifth_bits + l) >> group & 1U) << 4U;
            to[group * 32 + l] = scale * static_cast<float>(q) - minimum;
        }
    }
}

void q6_k(GgufBlock block, std::span<float, large> to) {
    constexpr std::size_t high_bits = 128, scales = 192, scale = 208;
    const float d = block.half(scale);
    for (std::size_t i = 0; i < large; ++i) {
        const std::size_t part = i / 128, row = i % 128 / 32, l = i % 32;
        const unsigned low = block.at(part * 64 + row % 2 * 32 + l) >> row / 2 * 4 & 15U;
        const unsigned high = block.at(high_bits + part * 32 + l) >> row * 2 & 3U;
        to[i] = d * block.whole(scales + i / 16) * (static_cast<float>(low | high << 4U) - 32.0F);
    }
}

/// Each group of 32 with a scale of 6 bits, whose upper 2 lie in bytes 2 and 3.
void iq4_xs(GgufBlock block, std::span<float, large> to) {
    constexpr std::size_t high_bits = 2, low_bits = 4, quants = 8;
    const float d = block.half(0);
    for (std::size_t group = 0; group < 8; ++group) {
        const unsigned low = block.at(low_bits + group / 2) >> group % 2 * 4 & 15U;
        const unsigned high = block.at(high_bits + group / 4) >> group % 4 * 2 & 3U;
        const float scale = d * (static_cast<float>(low | high << 4U) - 32.0F);
        for (std::size_t l = 0; l < 32; ++l)
            to[group * 32 + l] = scale * uneven_steps.at(nibble(block, quants + group * 16, l));
    }
}

/// Numbers of 4 bits E2M1 times a power of two.
void mxfp4(GgufBlock block, std::span<float, small> to) {
    const float d = float8_e8m0(static_cast<unsigned char>(block.at(0)));
    for (std::size_t i = 0; i < small; ++i)
        to[i] = float4_e2m1.at(nibble(block, 1, i)) * d;
}

/// Four groups of 16 such numbers, each times a number of 8 bits E4M3 without a sign.
void nvfp4(GgufBlock block, std::span<float, 64> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        const std::size_t group = i / 16, l = i % 16;
        const unsigned byte = block.at(group); // ggml takes the pattern of NaN as 0
        const float d = byte == 127U ? 0.0F : std::abs(float8_e4m3(static_cast<unsigned char>(byte)));
        to[i] = float4_e2m1.at(block.at(4 + group * 8 + l % 8) >> (l < 8 ? 0U : 4U) & 15U) * d;
    }
}

void q1_0(GgufBlock block, std::span<float, 128> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = (block.at(2 + i / 8) >> i % 8 & 1U) != 0 ? d : -d;
}

void q2_0(GgufBlock block, std::span<float, 64> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = (static_cast<float>(block.at(2 + i / 4) >> i % 4 * 2 & 3U) - 1.0F) * d;
}

/// Digit `place` of a number of base 3 that is stored as a fraction of 256.
float third_digit(unsigned byte, std::size_t place) {
    constexpr std::array<unsigned, 5> powers{1, 3, 9, 27, 81};
    return static_cast<float>((byte * powers.at(place) & 255U) * 3 >> 8U) - 1.0F;
}

/// -1, 0 and 1: five numbers in each of 48 bytes, of which 32 and 16 belong together, and four in another 4.
void tq1_0(GgufBlock block, std::span<float, large> to) {
    constexpr std::size_t scale = 52;
    const float d = block.half(scale);
    for (std::size_t i = 0; i < 160; ++i)
        to[i] = third_digit(block.at(i % 32), i / 32) * d;
    for (std::size_t i = 0; i < 80; ++i)
        to[160 + i] = third_digit(block.at(32 + i % 16), i / 16) * d;
    for (std::size_t i = 0; i < 16; ++i)
        to[240 + i] = third_digit(block.at(48 + i % 4), i / 4) * d;
}

void tq2_0(GgufBlock block, std::span<float, large> to) {
    constexpr std::size_t scale = 64;
    const float d = block.half(scale);
    for (std::size_t i = 0; i < large; ++i)
        to[i] = (static_cast<float>(block.at(i / 128 * 32 + i % 32) >> i % 128 / 32 * 2 & 3U) - 1.0F) * d;
}

void floats(std::string_view name, std::span<const char> from, std::span<float> to) {
    format::find_safetensors_type(name)->read_floats(from, to);
}

// Messages list the types in this order.
const std::array gguf_types{GgufType{0, "F32", 1, 4, [](auto from, auto to) { floats("F32", from, to); }},
                            GgufType{1, "F16", 1, 2, [](auto from, auto to) { floats("F16", from, to); }},
                            GgufType{30, "BF16", 1, 2, [](auto from, auto to) { floats("BF16", from, to); }},
                            GgufType{28, "F64", 1, 8, [](auto from, auto to) { floats("F64", from, to); }},
                            GgufType{8, "Q8_0", small, 34, each_gguf_block<small, 34, q8_0>},
                            GgufType{2, "Q4_0", small, 18, each_gguf_block<small, 18, q4_0>},
                            GgufType{3, "Q4_1", small, 20, each_gguf_block<small, 20, q4_1>},
                            GgufType{6, "Q5_0", small, 22, each_gguf_block<small, 22, q5_0>},
                            GgufType{7, "Q5_1", small, 24, each_gguf_block<small, 24, q5_1>},
                            GgufType{10, "Q2_K", large, 84, each_gguf_block<large, 84, q2_k>},
                            GgufType{11, "Q3_K", large, 110, each_gguf_block<large, 110, q3_k>},
                            GgufType{12, "Q4_K", large, 144, each_gguf_block<large, 144, q4_or_q5_k<16, 0>>},
                            GgufType{13, "Q5_K", large, 176, each_gguf_block<large, 176, q4_or_q5_k<48, 16>>},
                            GgufType{14, "Q6_K", large, 210, each_gguf_block<large, 210, q6_k>},
                            GgufType{20, "IQ4_NL", small, 18, each_gguf_block<small, 18, iq4_nl>},
                            GgufType{23, "IQ4_XS", large, 136, each_gguf_block<large, 136, iq4_xs>},
                            GgufType{39, "MXFP4", small, 17, each_gguf_block<small, 17, mxfp4>},
                            GgufType{40, "NVFP4", 64, 36, each_gguf_block<64, 36, nvfp4>},
                            GgufType{41, "Q1_0", 128, 18, each_gguf_block<128, 18, q1_0>},
                            GgufType{42, "Q2_0", 64, 18, each_gguf_block<64, 18, q2_0>},
                            GgufType{34, "TQ1_0", large, 54, each_gguf_block<large, 54, tq1_0>},
                            GgufType{35, "TQ2_0", large, 66, each_gguf_block<large, 66, tq2_0>},
                            GgufType{16, "IQ2_XXS", large, 66, each_gguf_block<large, 66, decode_iq2_xxs>},
                            GgufType{17, "IQ2_XS", large, 74, each_gguf_block<large, 74, decode_iq2_xs>},
                            GgufType{22, "IQ2_S", large, 82, each_gguf_block<large, 82, decode_iq2_s>},
                            GgufType{18, "IQ3_XXS", large, 98, each_gguf_block<large, 98, decode_iq3_xxs>},
                            GgufType{21, "IQ3_S", large, 110, each_gguf_block<large, 110, decode_iq3_s>},
                            GgufType{19, "IQ1_S", large, 50, each_gguf_block<large, 50, decode_iq1_s>},
                            GgufType{29, "IQ1_M", large, 56, each_gguf_block<large, 56, decode_iq1_m>}};

/// Types that ggml has or had and that are not read here.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 14> others{{{9, "Q8_1"},
                                                                             {15, "Q8_K"},
                                                                             {24, "I8"},
                                                                             {25, "I16"},
                                                                             {26, "I32"},
                                                                             {27, "I64"},
                                                                             {4, "Q4_2"},
                                                                             {5, "Q4_3"},
                                                                             {31, "Q4_0_4_4"},
                                                                             {32, "Q4_0_4_8"},
                                                                             {33, "Q4_0_8_8"},
                                                                             {36, "IQ4_NL_4_4"},
                                                                             {37, "IQ4_NL_4_8"},
                                                                             {38, "IQ4_NL_8_8"}}};

} // namespace

const GgufType* find_gguf_type(std::uint32_t id) {
    const auto row = std::ranges::find(gguf_types, id, &GgufType::id);
    return row == gguf_types.end() ? nullptr : &*row;
}

std::string gguf_type_name(std::uint32_t id) {
    if (const GgufType* const type = find_gguf_type(id))
        return std::string(type->name);
    const auto row = std::ranges::find(others, id, [](const auto& other) { return other.first; });
    return row == others.end() ? tr("gguf_types.type", "type {}", id) : std::string(row->second);
}

std::string gguf_type_names() {
    return joined(gguf_types, &GgufType::name);
}

} // namespace headscope::checkpoint
