#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The rotation of one number of a query or key head by a rotary position embedding.
struct RotatedNumber {
    CellAddress own, partner; ///< of q or k
    float cos = 1, sin = 0;   ///< cell = own * cos + sign * partner * sin
    float sign = 1;           ///< -1 in the first half of the head
    std::int64_t pair = 0;    ///< the smaller of the two dimensions of the pair
    double angle = 0;         ///< rotation of the pair in degrees, 0 to 360
};

/// `cell`: of q_heads or k_heads of attention inputs with rotary tables.
RotatedNumber rotated_number(const Shown& shown, const CellAddress& cell);

/// The split of the focused head only: its columns of q, k and v, and its heads. With a rotary position
/// embedding also queries and keys before and after the rotation, and pairs of one token as arrows.
/// `controls`: the width of the controls to the right of the title.
Picture draw_head_split_page(const DrawContext& context, float controls);

} // namespace headscope::app
