#include "core/project/same_bits.h"

#include <algorithm>
#include <bit>
#include <span>
#include <type_traits>

namespace headscope::project {

namespace {

bool same_floats(std::span<const float> a, std::span<const float> b) {
    const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    return std::ranges::equal(a, b, {}, bits, bits);
}

bool same_bools(const BoolTensorPtr& a, const BoolTensorPtr& b) {
    if (a == nullptr || b == nullptr)
        return a == b;
    return a == b || (a->shape == b->shape && a->values == b->values);
}

bool same_rule(const MaskRule& a, const MaskRule& b) {
    if (a.index() != b.index())
        return false;
    const auto same = [&b]<class Rule>(const Rule& left) {
        const Rule& right = std::get<Rule>(b);
        if constexpr (std::is_same_v<Rule, KeyPaddingMask>)
            return same_bools(left.key_valid, right.key_valid);
        else if constexpr (std::is_same_v<Rule, SlidingWindowCausalMask>)
            return left.window == right.window;
        else if constexpr (std::is_same_v<Rule, SlidingWindowSymmetricMask>)
            return left.half_width == right.half_width;
        else if constexpr (std::is_same_v<Rule, ExplicitMask>)
            return same_bools(left.allowed, right.allowed);
        else if constexpr (std::is_same_v<Rule, AdditiveMask>)
            return same_bits(left.add, right.add);
        else
            return true;
    };
    return std::visit(same, a);
}

bool same_rotary(const std::optional<Rotary>& a, const std::optional<Rotary>& b) {
    if (!a || !b)
        return a.has_value() == b.has_value();
    return same_bits(a->cos, b->cos) && same_bits(a->sin, b->sin);
}

bool same_number(float a, float b) {
    return same_floats({&a, 1}, {&b, 1});
}

} // namespace

bool same_bits(const TensorPtr& a, const TensorPtr& b) {
    if (a == nullptr || b == nullptr)
        return a == b;
    return a == b || (a->shape() == b->shape() && same_floats(a->values(), b->values()));
}

bool same_bits(const Mask& a, const Mask& b) {
    return std::ranges::equal(a, b, same_rule);
}

bool same_bits(const Problem& a, const Problem& b) {
    const auto same = [](const TensorPtr& left, const TensorPtr& right) { return same_bits(left, right); };
    const Weights &v = a.weights, &w = b.weights;
    return a.dims == b.dims && same(a.x, b.x) && same(a.x_kv, b.x_kv) && same(v.W_Q, w.W_Q) &&
           same(v.W_K, w.W_K) && same(v.W_V, w.W_V) && same(v.W_O, w.W_O) && same(v.b_Q, w.b_Q) &&
           same(v.b_K, w.b_K) && same(v.b_V, w.b_V) && same(v.b_O, w.b_O) && same_bits(a.mask, b.mask) &&
           same_floats(a.gains, b.gains) && same_number(a.temperature, b.temperature) &&
           a.tokens == b.tokens && a.kv_tokens == b.kv_tokens && same_rotary(a.rotary, b.rotary);
}

bool same_bits(const Recipe& a, const Recipe& b) {
    const auto same_edit = [](const auto& left, const auto& right) {
        return left.first == right.first && same_bits(left.second, right.second);
    };
    const bool same_base =
        a.base == b.base || (a.base != nullptr && b.base != nullptr && same_bits(*a.base, *b.base));
    return same_base && a.preset == b.preset && a.sentence == b.sentence && a.kv_sentence == b.kv_sentence &&
           a.mask == b.mask && a.H == b.H && a.Hkv == b.Hkv && a.seed == b.seed &&
           a.identity_W_O == b.identity_W_O && std::ranges::equal(a.edits, b.edits, same_edit) &&
           same_floats(a.gains, b.gains) && same_number(a.temperature, b.temperature) &&
           same_bits(a.extra_mask, b.extra_mask) && same_bits(a.painted_mask, b.painted_mask);
}

} // namespace headscope::project
