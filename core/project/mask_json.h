#pragma once

#include "core/attention/mask.h"

#include <string>
#include <string_view>

namespace headscope::project {

/// Reads a mask: a plain word ("causal", "none"), or a JSON list of rules that all apply:
///   {"kind":"causal"}
///   {"kind":"key_padding","key_valid":[[1,1,0]]}        (B,Tk), or (Tk) for every batch entry
///   {"kind":"sliding_window_causal","window":4}         window >= 1
///   {"kind":"sliding_window_symmetric","half_width":2}  half_width >= 0
///   {"kind":"explicit","allowed":...}                   (Tq,Tk), (B,Tq,Tk) or (B,H,Tq,Tk); 1: allowed
///   {"kind":"additive","add":...}                       1 to 4 levels of numbers; "-inf": minus infinity
/// In "allowed" and "key_valid", true is 1. An additive rule without "add" gives an AdditiveMask without a
/// tensor: the numbers come from elsewhere (the tensor mask.add of a case file). MaskRows checks the sizes
/// against a problem. Throws Error(input) with the index of the rule in the list.
Mask parse_mask(std::string_view text);

/// The mask as such a list, for metadata. Explicit and additive rules have their shape instead of their
/// values.
std::string describe_mask(const Mask& mask);

} // namespace headscope::project
