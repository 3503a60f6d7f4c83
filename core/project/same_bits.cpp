#include "core/project/same_bits.h"

#include <algorithm>

namespace headscope::project {

bool same_bits(const Recipe& a, const Recipe& b) {
    const auto same_edit = [](const auto& left, const auto& right) {
        return left.first == right.first && same_bits(left.second, right.second);
    };
    const bool same_base =
        a.base == b.base || (a.base != nullptr && b.base != nullptr && same_bits(*a.base, *b.base));
    return same_base && a.preset == b.preset && a.sentence == b.sentence && a.kv_sentence == b.kv_sentence &&
           a.mask == b.mask && a.H == b.H && a.Hkv == b.Hkv && a.seed == b.seed &&
           a.identity_W_O == b.identity_W_O && std::ranges::equal(a.edits, b.edits, same_edit) &&
           same_bits(a.gains, b.gains) && same_bits(a.temperature, b.temperature) &&
           same_bits(a.extra_mask, b.extra_mask) && same_bits(a.painted_mask, b.painted_mask);
}

} // namespace headscope::project
