#include "core/base/sha256_blocks.h"

// The instructions are described in Intel's "Intel SHA Extensions" (2013): two registers hold the words ABEF
// and CDGH of the state, and one instruction computes two rounds.

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

namespace headscope {

namespace {

#define HEADSCOPE_SHA __attribute__((target("sha,sse4.1,ssse3")))

HEADSCOPE_SHA inline __m128i load(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
HEADSCOPE_SHA inline void store(std::uint32_t* to, __m128i words) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), words);
}

/// Replaces the oldest four words of the message schedule by the next four.
HEADSCOPE_SHA inline void extend(__m128i& oldest, __m128i older, __m128i newer, __m128i newest) {
    const __m128i added =
        _mm_add_epi32(_mm_sha256msg1_epu32(oldest, older), _mm_alignr_epi8(newest, newer, 4));
    oldest = _mm_sha256msg2_epu32(added, newest);
}

/// Four rounds, from round `first` on.
HEADSCOPE_SHA inline void compute_rounds(__m128i& abef, __m128i& cdgh, __m128i words, int first) {
    const __m128i added = _mm_add_epi32(words, load(sha256_constants.data() + first));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0E));
}

HEADSCOPE_SHA void compress_with_instructions(Sha256State& state, const std::byte* blocks,
                                              std::size_t count) {
    const __m128i byte_order = _mm_set_epi64x(0x0C0D0E0F08090A0B, 0x0405060700010203);
    // DCBA and HGFE to ABEF and CDGH.
    const __m128i cdab = _mm_shuffle_epi32(load(state.data()), 0xB1);
    const __m128i efgh = _mm_shuffle_epi32(load(state.data() + 4), 0x1B);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
    for (; count > 0; --count, blocks += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w0 = _mm_shuffle_epi8(load(blocks), byte_order);
        __m128i w1 = _mm_shuffle_epi8(load(blocks + 16), byte_order);
        __m128i w2 = _mm_shuffle_epi8(load(blocks + 32), byte_order);
        __m128i w3 = _mm_shuffle_epi8(load(blocks + 48), byte_order);
        for (int first = 0;; first += 16) {
            compute_rounds(abef, cdgh, w0, first);
            compute_rounds(abef, cdgh, w1, first + 4);
            compute_rounds(abef, cdgh, w2, first + 8);
            compute_rounds(abef, cdgh, w3, first + 12);
            if (first == 48)
                break;
            extend(w0, w1, w2, w3);
            extend(w1, w2, w3, w0);
            extend(w2, w3, w0, w1);
            extend(w3, w0, w1, w2);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    store(state.data(), _mm_blend_epi16(feba, dchg, 0xF0));
    store(state.data() + 4, _mm_alignr_epi8(dchg, feba, 8));
}

#undef HEADSCOPE_SHA

bool has_instructions() {
    constexpr unsigned sha_bit = 1U << 29U, sse41_bit = 1U << 19U, ssse3_bit = 1U << 9U;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & sse41_bit) == 0 || (c & ssse3_bit) == 0)
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & sha_bit) != 0;
}

} // namespace

Sha256Compress sha256_instructions() {
    static const bool available = has_instructions();
    return available ? &compress_with_instructions : nullptr;
}

} // namespace headscope

#else

namespace headscope {

Sha256Compress sha256_instructions() {
    return nullptr;
}

} // namespace headscope

#endif
