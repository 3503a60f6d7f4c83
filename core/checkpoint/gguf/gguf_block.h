#pragma once

#include "core/format/number_types.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace headscope::checkpoint {

/// The bytes of one block of numbers of a GGUF file, read as unsigned, signed or binary16 numbers.
class GgufBlock {
public:
    explicit GgufBlock(const char* bytes) : bytes_(bytes) {}
    unsigned at(std::size_t i) const { return static_cast<unsigned char>(bytes_[i]); }
    /// Two bytes, the lower one first.
    unsigned pair(std::size_t i) const { return at(i) | at(i + 1) << 8U; }
    unsigned four(std::size_t i) const { return pair(i) | pair(i + 2) << 16U; }
    float whole(std::size_t i) const { return static_cast<float>(static_cast<signed char>(bytes_[i])); }
    float half(std::size_t i) const { return half_of(bytes_ + i); }
    /// The binary16 number with these bits.
    static float of_bits(unsigned bits) {
        const char bytes[]{static_cast<char>(bits & 255U), static_cast<char>(bits >> 8U)};
        return half_of(bytes);
    }

private:
    static float half_of(const char* bytes) {
        static const auto read = format::find_safetensors_type("F16")->read_floats;
        float number = 0;
        read({bytes, sizeof(std::uint16_t)}, {&number, 1});
        return number;
    }
    const char* bytes_;
};

/// Decodes blocks of `numbers` numbers and `bytes` bytes after each other.
template<std::size_t numbers, std::size_t bytes, void (*decode)(GgufBlock, std::span<float, numbers>)>
void each_gguf_block(std::span<const char> blocks, std::span<float> to) {
    for (std::size_t at = 0; at * numbers < to.size(); ++at)
        decode(GgufBlock(blocks.data() + at * bytes),
               std::span<float, numbers>(to.subspan(at * numbers, numbers)));
}

} // namespace headscope::checkpoint
