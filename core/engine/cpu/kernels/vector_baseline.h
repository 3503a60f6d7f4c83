#pragma once

#include <cstdint>
#include <cstring>

namespace {

/// Four numbers in the compiler's own vector type, which every processor can run. Everything here has
/// internal linkage: each instruction set compiles its own.
struct Vec {
    typedef float Floats __attribute__((vector_size(16)));
    typedef std::int32_t Ints __attribute__((vector_size(16)));
    static constexpr int lanes = 4;
    Floats v;

    static Vec zero() { return {Floats{}}; }
    static Vec all(float x) { return {Floats{x, x, x, x}}; }
    static Vec load(const float* p) {
        Vec out;
        std::memcpy(&out.v, p, sizeof out.v);
        return out;
    }
    void store(float* p) const { std::memcpy(p, &v, sizeof v); }
    void store_past_caches(float* p) const { store(p); }

    /// Loads the first `count` >= 0 numbers. The other lanes are `rest`; their memory is not read.
    static Vec load_some(const float* p, std::int64_t count, float rest) {
        Vec out = all(rest);
        for (int lane = 0; lane < lanes && lane < count; ++lane)
            out.v[lane] = p[lane];
        return out;
    }
    void store_some(float* p, std::int64_t count) const {
        for (int lane = 0; lane < lanes && lane < count; ++lane)
            p[lane] = v[lane];
    }
};
inline Vec operator+(Vec a, Vec b) {
    return {a.v + b.v};
}
inline Vec operator-(Vec a, Vec b) {
    return {a.v - b.v};
}
inline Vec operator*(Vec a, Vec b) {
    return {a.v * b.v};
}
inline Vec operator/(Vec a, Vec b) {
    return {a.v / b.v};
}
inline Vec multiply_add(Vec a, Vec b, Vec c) {
    return {a.v * b.v + c.v};
}
inline Vec larger(Vec a, Vec b) {
    return {a.v > b.v ? a.v : b.v};
}
inline Vec smaller(Vec a, Vec b) {
    return {a.v < b.v ? a.v : b.v};
}
/// v where x >= limit, else 0.
inline Vec where_at_least(Vec x, float limit, Vec v) {
    return {reinterpret_cast<Vec::Floats>(reinterpret_cast<Vec::Ints>(v.v) & (x.v >= Vec::all(limit).v))};
}
/// p 2^n, where n is in the low bits of `shifted`.
inline Vec add_to_exponent(Vec p, Vec shifted) {
    return {reinterpret_cast<Vec::Floats>(reinterpret_cast<Vec::Ints>(p.v) +
                                          (reinterpret_cast<Vec::Ints>(shifted.v) << 23))};
}
inline void finish_stores() {}

} // namespace
