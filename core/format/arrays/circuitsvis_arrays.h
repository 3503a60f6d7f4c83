#pragma once

#include "core/format/arrays/named_arrays.h"

#include <string>
#include <string_view>

namespace headscope::format {

/// Reads the arguments of circuitsvis.attention.attention_heads
/// (https://github.com/TransformerLensOrg/CircuitsVis, python/circuitsvis/attention.py) as JSON: "tokens", T
/// texts; "attention", one weight for [head, destination, source], or [layer, head, destination, source]; and
/// the optional "attention_head_names" (in its component "attentionHeadNames"). Names such as L3H7 say the
/// layer of each head. A list of such objects has one object for each layer. Other members are ignored. The
/// weights become one array "attention" of float32, (H, T, T) or (L, H, T, T), which is kept in memory; a
/// weight outside float32's range becomes an infinity.
///
/// Throws Error(input) with the path and the problem for other JSON, for lists of different lengths, for
/// files of more than 1 GiB, and for more than 65,536 objects or names, 1,048,576 tokens or 268,435,456
/// weights.
NamedArraysPtr read_circuitsvis(const std::string& path);

/// Returns true if a file is JSON with a member "attention" in its first MiB whose value is a list.
bool is_circuitsvis_file(const std::string& path);

} // namespace headscope::format
