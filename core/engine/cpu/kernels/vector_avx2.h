#pragma once

#include <cstdint>
#include <immintrin.h>

namespace {

/// Eight numbers. Everything here has internal linkage: each instruction set compiles its own.
struct Vec {
    static constexpr int lanes = 8;
    __m256 v;

    static Vec zero() { return {_mm256_setzero_ps()}; }
    static Vec all(float x) { return {_mm256_set1_ps(x)}; }
    static Vec load(const float* p) { return {_mm256_loadu_ps(p)}; }
    void store(float* p) const { _mm256_storeu_ps(p, v); }
    void store_past_caches(float* p) const { _mm256_stream_ps(p, v); }

    /// Loads the first `count` >= 0 numbers. The other lanes are `rest`; their memory is not read.
    static Vec load_some(const float* p, std::int64_t count, float rest) {
        const __m256i mask = first(count);
        return {
            _mm256_blendv_ps(_mm256_set1_ps(rest), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask))};
    }
    void store_some(float* p, std::int64_t count) const { _mm256_maskstore_ps(p, first(count), v); }

private:
    static __m256i first(std::int64_t count) {
        const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(count >= lanes ? lanes : static_cast<int>(count)), lane);
    }
};
inline Vec operator+(Vec a, Vec b) {
    return {_mm256_add_ps(a.v, b.v)};
}
inline Vec operator-(Vec a, Vec b) {
    return {_mm256_sub_ps(a.v, b.v)};
}
inline Vec operator*(Vec a, Vec b) {
    return {_mm256_mul_ps(a.v, b.v)};
}
inline Vec operator/(Vec a, Vec b) {
    return {_mm256_div_ps(a.v, b.v)};
}
inline Vec multiply_add(Vec a, Vec b, Vec c) {
    return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
inline Vec larger(Vec a, Vec b) {
    return {_mm256_max_ps(a.v, b.v)};
}
inline Vec smaller(Vec a, Vec b) {
    return {_mm256_min_ps(a.v, b.v)};
}
/// v where x >= limit, else 0.
inline Vec where_at_least(Vec x, float limit, Vec v) {
    return {_mm256_and_ps(_mm256_cmp_ps(x.v, _mm256_set1_ps(limit), _CMP_GE_OQ), v.v)};
}
/// p 2^n, where n is in the low bits of `shifted`.
inline Vec add_to_exponent(Vec p, Vec shifted) {
    return {_mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_castps_si256(p.v), _mm256_slli_epi32(_mm256_castps_si256(shifted.v), 23)))};
}
inline void finish_stores() {
    _mm_sfence();
}

} // namespace
