#pragma once

#include "app/draw/kit/picture.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::test {

using namespace headscope::app;

/// What a made-up problem looks like. Numbers are drawn from `seed`.
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
    float scale = 1.0F; ///< of the numbers of x
    std::uint32_t seed = 1;
};

/// A document and its trace, computed here with loops in double precision and rules of its own for masks, so
/// that panels are tested without the program's engine.
Shown make_shown(const Wish& wish);

/// Several wishes that together have every variation: shared key/value heads, two sequences, batches, each
/// kind of mask, a row with no key, gains, temperature, biases, long and large.
std::vector<Wish> many_wishes();

/// Widths close to those of the program's fonts.
figure::TextMeasure approximate_measure();

/// All texts of a picture, joined with line breaks.
std::string all_text(const Picture& picture);
/// The action of the hotspot with that label; the test fails when there is none or more than one.
Action action_of(const Picture& picture, const std::string& label);

} // namespace headscope::test
