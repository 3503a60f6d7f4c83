#include "core/attention/same_bits.h"

#include "core/base/overloaded.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

namespace headscope {

namespace {

bool same_floats(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
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
        else if constexpr (std::is_same_v<Rule, ChunkedCausalMask>)
            return left.chunk == right.chunk;
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

} // namespace

bool same_bits(const TensorPtr& a, const TensorPtr& b) {
    if (a == nullptr || b == nullptr)
        return a == b;
    return a == b || (a->shape() == b->shape() && same_floats(a->values(), b->values()));
}

bool same_bits(const Mask& a, const Mask& b) {
    return std::ranges::equal(a, b, same_rule);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return same_floats(a, b);
}

bool same_bits(float a, float b) {
    return same_floats({&a, 1}, {&b, 1});
}

bool same_bits(const Problem& a, const Problem& b) {
    bool same = true;
    visit_fields(
        Overloaded{
            [&]<class Value>(const Field&, const Value& left, const Value& right) {
                same = same && left == right;
            },
            [&](const Field&, const TensorPtr& left, const TensorPtr& right) {
                same = same && same_bits(left, right);
            },
            [&](const Field&, const std::optional<Rotary>& left, const std::optional<Rotary>& right) {
                same = same && same_rotary(left, right);
            },
            [&](const Field&, const Mask& left, const Mask& right) { same = same && same_bits(left, right); },
            [&](const Field&, const std::vector<float>& left, const std::vector<float>& right) {
                same = same && same_bits(left, right);
            },
            [&](const Field&, const float& left, const float& right) {
                same = same && same_bits(left, right);
            }},
        a, b);
    return same;
}

} // namespace headscope
