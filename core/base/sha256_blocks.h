#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headscope {

using Sha256State = std::array<std::uint32_t, 8>;

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
extern const std::array<std::uint32_t, 64> sha256_constants;

/// Updates the state with `count` blocks of 64 bytes.
using Sha256Compress = void (*)(Sha256State& state, const std::byte* blocks, std::size_t count);

void compress_sha256(Sha256State& state, const std::byte* blocks, std::size_t count);
/// The same with the instructions that x86-64 processors have for it since about 2017, five to eight times as
/// fast; null if this processor has none.
Sha256Compress sha256_instructions();

} // namespace headscope
