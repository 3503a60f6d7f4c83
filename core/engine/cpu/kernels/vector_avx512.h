#pragma once

#include <cstdint>
#include <immintrin.h>

namespace {

/// Sixteen numbers. Everything here has internal linkage: each instruction set compiles its own.
struct Vec {
    static constexpr int lanes = 16;
    __m512 v;

    static Vec zero() { return {_mm512_setzero_ps()}; }
    static Vec all(float x) { return {_mm512_set1_ps(x)}; }
    static Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
    void store(float* p) const { _mm512_storeu_ps(p, v); }
    void store_past_caches(float* p) const { _mm512_stream_ps(p, v); }

    /// Loads the first `count` >= 0 numbers. The other lanes are `rest`; their memory is not read.
    static Vec load_some(const float* p, std::int64_t count, float rest) {
        return {_mm512_mask_loadu_ps(_mm512_set1_ps(rest), first(count), p)};
    }
    void store_some(float* p, std::int64_t count) const { _mm512_mask_storeu_ps(p, first(count), v); }

private:
    static __mmask16 first(std::int64_t count) {
        return count >= lanes ? __mmask16(0xFFFF) : __mmask16((1U << static_cast<unsigned>(count)) - 1U);
    }
};
inline Vec operator+(Vec a, Vec b) {
    return {_mm512_add_ps(a.v, b.v)};
}
inline Vec operator-(Vec a, Vec b) {
    return {_mm512_sub_ps(a.v, b.v)};
}
inline Vec operator*(Vec a, Vec b) {
    return {_mm512_mul_ps(a.v, b.v)};
}
inline Vec operator/(Vec a, Vec b) {
    return {_mm512_div_ps(a.v, b.v)};
}
inline Vec multiply_add(Vec a, Vec b, Vec c) {
    return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
inline Vec larger(Vec a, Vec b) {
    return {_mm512_max_ps(a.v, b.v)};
}
inline Vec smaller(Vec a, Vec b) {
    return {_mm512_min_ps(a.v, b.v)};
}
/// v where x >= limit, else 0.
inline Vec where_at_least(Vec x, float limit, Vec v) {
    return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.v, _mm512_set1_ps(limit), _CMP_GE_OQ), v.v)};
}
/// p 2^n, where n is in the low bits of `shifted`.
inline Vec add_to_exponent(Vec p, Vec shifted) {
    return {_mm512_castsi512_ps(
        _mm512_add_epi32(_mm512_castps_si512(p.v), _mm512_slli_epi32(_mm512_castps_si512(shifted.v), 23)))};
}
inline void finish_stores() {
    _mm_sfence();
}

} // namespace
