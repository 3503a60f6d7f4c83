#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// How a rotary position embedding makes one number of a query or key head.
struct Turn {
    CellAddress own, partner; ///< of q or k
    float cos = 1, sin = 0;   ///< cell = own cos + sign partner sin
    float sign = 1;           ///< -1 in the first half of the head
    std::int64_t pair = 0;    ///< the smaller of the two places in the head
    double angle = 0;         ///< by which the pair is turned, in degrees, 0 to 360
};

/// `cell`: of q_heads or k_heads of a problem with rotary tables.
Turn turn_of(const Shown& shown, const CellAddress& cell);

/// The split of the head in focus alone: its columns of q, k and v, and what becomes of them. With a rotary
/// position embedding, queries and keys before and after, and pairs of one token as arrows.
/// `controls`: the width of what stands right of its title.
Picture draw_head_split_page(const DrawContext& context, float controls);

} // namespace headscope::app
