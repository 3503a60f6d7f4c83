#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headscope {

/// SHA-256 (FIPS 180-4) of bytes that are added in pieces.
class Sha256 {
public:
    void add(std::span<const std::byte> bytes);
    /// 64 lower-case hexadecimal digits. Nothing may be added after this call.
    std::string finish();

private:
    void compress(const std::byte* blocks, std::size_t count);

    std::array<std::uint32_t, 8> state_{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                        0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    std::array<std::byte, 64> block_{}; ///< bytes of a block that is not full yet
    std::size_t filled_ = 0;            ///< number of bytes in block_
    std::uint64_t length_ = 0;          ///< bytes added
};

/// The hash of `bytes` in one call.
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

} // namespace headscope
