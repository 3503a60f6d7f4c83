#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headscope::hub {

/// The name of a file's content in git: SHA-1 (FIPS 180-4) of "blob SIZE", a zero byte, and the content
/// (https://git-scm.com/book/en/v2/Git-Internals-Git-Objects).
class GitBlobHash {
public:
    /// `size`: bytes of the whole content.
    explicit GitBlobHash(std::uint64_t size);
    void add(std::span<const std::byte> bytes);
    /// 40 lower-case hexadecimal digits. Nothing may be added after this call.
    std::string finish();

private:
    void compress();

    std::array<std::uint32_t, 5> state_{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    std::array<std::byte, 64> block_{};
    std::size_t filled_ = 0;   ///< number of bytes in block_
    std::uint64_t length_ = 0; ///< bytes added
};

} // namespace headscope::hub
