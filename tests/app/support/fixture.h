#pragma once

#include "app/draw/kit/picture.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::test {

using namespace headscope::app;

/// Properties of a made-up problem. Its numbers are random, from `seed`.
struct Wish {
    std::int64_t B = 1, Tq = 4, Tk = 4, D = 8, Dkv = 8, H = 2, Hkv = 2, dk = 4, dv = 4;
    bool cross = false;
    bool biases = false;
    Mask mask{};
    std::vector<float> gains{};
    float temperature = 1.0F;
    std::vector<std::string> tokens{"The", "cat", "sat", "down"};
    std::vector<std::string> kv_tokens{};
    std::vector<std::string> head_roles{};
    std::vector<std::string> feature_names{};
    float scale = 1.0F; ///< factor of the numbers of x
    std::uint32_t seed = 1;
};

/// Returns a document and its trace, computed here with loops in double precision and an own implementation
/// of masks, so that tests of panels do not depend on the program's engine.
Shown make_shown(const Wish& wish);

/// Several wishes that together have every variation: shared key/value heads, two sequences, batches, each
/// kind of mask, a row without keys, head gains, temperature, biases, long and large.
std::vector<Wish> many_wishes();

/// Returns widths close to those of the program's fonts.
figure::TextMeasure approximate_measure();

/// Returns all texts of a picture, joined with line breaks.
std::string all_text(const Picture& picture);
/// Returns the action of the hotspot with that label; the test fails unless there is exactly one.
Action action_of(const Picture& picture, const std::string& label);

} // namespace headscope::test
