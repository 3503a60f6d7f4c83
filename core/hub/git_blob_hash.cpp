#include "core/hub/git_blob_hash.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace headscope::hub {

GitBlobHash::GitBlobHash(std::uint64_t size) {
    const std::string header = "blob " + std::to_string(size) + '\0';
    add(std::as_bytes(std::span(header)));
}

void GitBlobHash::compress() {
    std::array<std::uint32_t, 80> w{};
    for (std::size_t t = 0; t < 16; ++t)
        for (std::size_t i = 0; i < 4; ++i)
            w[t] = w[t] << 8U | std::to_integer<std::uint32_t>(block_[4 * t + i]);
    for (std::size_t t = 16; t < w.size(); ++t)
        w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    auto [a, b, c, d, e] = state_;
    for (std::size_t t = 0; t < w.size(); ++t) {
        const auto [mixed, constant] = t < 20   ? std::pair{(b & c) | (~b & d), 0x5A827999U}
                                       : t < 40 ? std::pair{b ^ c ^ d, 0x6ED9EBA1U}
                                       : t < 60 ? std::pair{(b & c) | (b & d) | (c & d), 0x8F1BBCDCU}
                                                : std::pair{b ^ c ^ d, 0xCA62C1D6U};
        const std::uint32_t next = std::rotl(a, 5) + mixed + e + constant + w[t];
        e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    }
    const std::array<std::uint32_t, 5> rounds{a, b, c, d, e};
    std::ranges::transform(state_, rounds, state_.begin(), std::plus<>());
}

void GitBlobHash::add(std::span<const std::byte> bytes) {
    length_ += bytes.size();
    while (!bytes.empty()) {
        const std::size_t some = std::min(bytes.size(), block_.size() - filled_);
        std::ranges::copy(bytes.first(some), block_.begin() + static_cast<std::ptrdiff_t>(filled_));
        bytes = bytes.subspan(some);
        filled_ += some;
        if (filled_ == block_.size()) {
            compress();
            filled_ = 0;
        }
    }
}

std::string GitBlobHash::finish() {
    const std::uint64_t bits = length_ * 8;
    const auto add_byte = [this](unsigned value) {
        const std::byte byte{static_cast<unsigned char>(value)};
        add({&byte, 1});
    };
    add_byte(0x80);
    while (filled_ != block_.size() - sizeof bits)
        add_byte(0);
    for (int shift = 56; shift >= 0; shift -= 8)
        add_byte(static_cast<unsigned>(bits >> static_cast<unsigned>(shift) & 0xFFU));
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::uint32_t word : state_)
        for (int shift = 28; shift >= 0; shift -= 4)
            text += digits[word >> static_cast<unsigned>(shift) & 0xFU];
    return text;
}

} // namespace headscope::hub
