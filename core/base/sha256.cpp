#include "core/base/sha256.h"

#include "core/base/sha256_blocks.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace headscope {

const std::array<std::uint32_t, 64> sha256_constants{
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2};

namespace {

std::uint32_t big_endian(const std::byte* bytes) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i)
        word = word << 8U | std::to_integer<std::uint32_t>(bytes[i]);
    return word;
}

void compress_block(Sha256State& state, const std::byte* block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t t = 0; t < 16; ++t)
        w[t] = big_endian(block + 4 * t);
    for (std::size_t t = 16; t < 64; ++t) {
        const std::uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + w[t - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3U) +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10U);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                    ((e & f) ^ (~e & g)) + sha256_constants[t] + w[t];
        const std::uint32_t second =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first;
        d = c, c = b, b = a, a = first + second;
    }
    const Sha256State mixed{a, b, c, d, e, f, g, h};
    std::ranges::transform(state, mixed, state.begin(), std::plus<>());
}

} // namespace

void compress_sha256(Sha256State& state, const std::byte* blocks, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        compress_block(state, blocks + 64 * i);
}

void Sha256::compress(const std::byte* blocks, std::size_t count) {
    const Sha256Compress instructions = sha256_instructions();
    (instructions == nullptr ? &compress_sha256 : instructions)(state_, blocks, count);
}

void Sha256::add(std::span<const std::byte> bytes) {
    length_ += bytes.size();
    while (!bytes.empty()) {
        if (filled_ == 0 && bytes.size() >= block_.size()) {
            const std::size_t blocks = bytes.size() / block_.size();
            compress(bytes.data(), blocks);
            bytes = bytes.subspan(blocks * block_.size());
            continue;
        }
        const std::size_t some = std::min(bytes.size(), block_.size() - filled_);
        std::ranges::copy(bytes.first(some), block_.begin() + static_cast<std::ptrdiff_t>(filled_));
        bytes = bytes.subspan(some);
        filled_ += some;
        if (filled_ == block_.size()) {
            compress(block_.data(), 1);
            filled_ = 0;
        }
    }
}

std::string Sha256::finish() {
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

std::string sha256(std::span<const std::byte> bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.finish();
}

std::string sha256(std::string_view text) {
    return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

} // namespace headscope
