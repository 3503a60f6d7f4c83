#include "core/checkpoint/gguf/gguf_types.h"

#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/format/number_types.h"

#include <algorithm>
#include <array>

namespace headscope::checkpoint {

namespace {

constexpr std::size_t small = 32, large = 256; // numbers of a block

/// One block: its bytes, of which numbers are taken as unsigned, as signed or as binary16.
class Block {
public:
    explicit Block(const char* bytes) : bytes_(bytes) {}
    unsigned at(std::size_t i) const { return static_cast<unsigned char>(bytes_[i]); }
    float whole(std::size_t i) const { return static_cast<float>(static_cast<signed char>(bytes_[i])); }
    float half(std::size_t i) const {
        static const auto read = format::find_safetensors_type("F16")->read_floats;
        float number = 0;
        read({bytes_ + i, sizeof(std::uint16_t)}, {&number, 1});
        return number;
    }

private:
    const char* bytes_;
};

template<std::size_t numbers, std::size_t bytes, void (*decode)(Block, std::span<float, numbers>)>
void each_block(std::span<const char> blocks, std::span<float> to) {
    for (std::size_t at = 0; at * numbers < to.size(); ++at)
        decode(Block(blocks.data() + at * bytes),
               std::span<float, numbers>(to.subspan(at * numbers, numbers)));
}

/// Half a byte for each number: the low halves of 16 bytes, then the high ones.
unsigned nibble(Block block, std::size_t from, std::size_t i) {
    return block.at(from + i % 16) >> (i < 16 ? 0U : 4U) & 15U;
}

void q4_0(Block block, std::span<float, small> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = (static_cast<float>(nibble(block, 2, i)) - 8.0F) * d;
}

void q4_1(Block block, std::span<float, small> to) {
    const float d = block.half(0), least = block.half(2);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = static_cast<float>(nibble(block, 4, i)) * d + least;
}

/// With a fifth bit: bit i of the 32 that begin at byte `high`.
float five_bits(Block block, std::size_t high, std::size_t i) {
    const unsigned fifth = block.at(high + i / 8) >> i % 8 & 1U;
    return static_cast<float>(nibble(block, high + 4, i) | fifth << 4U);
}

void q5_0(Block block, std::span<float, small> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = (five_bits(block, 2, i) - 16.0F) * d;
}

void q5_1(Block block, std::span<float, small> to) {
    const float d = block.half(0), least = block.half(2);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = five_bits(block, 4, i) * d + least;
}

void q8_0(Block block, std::span<float, small> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = block.whole(2 + i) * d;
}

/// What the 4 bits of IQ4_NL and IQ4_XS stand for: steps that grow with the distance from 0.
constexpr std::array<float, 16> uneven_steps{-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};

void iq4_nl(Block block, std::span<float, small> to) {
    const float d = block.half(0);
    for (std::size_t i = 0; i < small; ++i)
        to[i] = d * uneven_steps.at(nibble(block, 2, i));
}

// The blocks of 256 hold groups of 16 or 32 numbers with a scale of their own. Several numbers that are 32 or
// 64 apart share a byte.

void q2_k(Block block, std::span<float, large> to) {
    constexpr std::size_t quants = 16, scale = 80;
    const float d = block.half(scale), least = block.half(scale + 2);
    for (std::size_t i = 0; i < large; ++i) {
        const unsigned both = block.at(i / 16);
        const unsigned q = block.at(quants + i / 128 * 32 + i % 32) >> i % 128 / 32 * 2 & 3U;
        to[i] = d * static_cast<float>(both & 15U) * static_cast<float>(q) -
                least * static_cast<float>(both >> 4U);
    }
}

void q3_k(Block block, std::span<float, large> to) {
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
Group group_of(Block block, std::size_t group) {
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
void q4_or_q5_k(Block block, std::span<float, large> to) {
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

void q6_k(Block block, std::span<float, large> to) {
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
void iq4_xs(Block block, std::span<float, large> to) {
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

void floats(std::string_view name, std::span<const char> from, std::span<float> to) {
    format::find_safetensors_type(name)->read_floats(from, to);
}

// Messages list the types in this order.
const std::array gguf_types{GgufType{0, "F32", 1, 4, [](auto from, auto to) { floats("F32", from, to); }},
                            GgufType{1, "F16", 1, 2, [](auto from, auto to) { floats("F16", from, to); }},
                            GgufType{30, "BF16", 1, 2, [](auto from, auto to) { floats("BF16", from, to); }},
                            GgufType{28, "F64", 1, 8, [](auto from, auto to) { floats("F64", from, to); }},
                            GgufType{8, "Q8_0", small, 34, each_block<small, 34, q8_0>},
                            GgufType{2, "Q4_0", small, 18, each_block<small, 18, q4_0>},
                            GgufType{3, "Q4_1", small, 20, each_block<small, 20, q4_1>},
                            GgufType{6, "Q5_0", small, 22, each_block<small, 22, q5_0>},
                            GgufType{7, "Q5_1", small, 24, each_block<small, 24, q5_1>},
                            GgufType{10, "Q2_K", large, 84, each_block<large, 84, q2_k>},
                            GgufType{11, "Q3_K", large, 110, each_block<large, 110, q3_k>},
                            GgufType{12, "Q4_K", large, 144, each_block<large, 144, q4_or_q5_k<16, 0>>},
                            GgufType{13, "Q5_K", large, 176, each_block<large, 176, q4_or_q5_k<48, 16>>},
                            GgufType{14, "Q6_K", large, 210, each_block<large, 210, q6_k>},
                            GgufType{20, "IQ4_NL", small, 18, each_block<small, 18, iq4_nl>},
                            GgufType{23, "IQ4_XS", large, 136, each_block<large, 136, iq4_xs>}};

/// Types that ggml has and that are not read here.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 18> others{{{9, "Q8_1"},
                                                                             {15, "Q8_K"},
                                                                             {16, "IQ2_XXS"},
                                                                             {17, "IQ2_XS"},
                                                                             {18, "IQ3_XXS"},
                                                                             {19, "IQ1_S"},
                                                                             {21, "IQ3_S"},
                                                                             {22, "IQ2_S"},
                                                                             {24, "I8"},
                                                                             {25, "I16"},
                                                                             {26, "I32"},
                                                                             {27, "I64"},
                                                                             {29, "IQ1_M"},
                                                                             {34, "TQ1_0"},
                                                                             {35, "TQ2_0"},
                                                                             {39, "MXFP4"},
                                                                             {4, "Q4_2"},
                                                                             {5, "Q4_3"}}};

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
