#pragma once

#include "core/base/file.h"
#include "core/export/trace_selection.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::exporting {

inline constexpr std::string_view circuitsvis_suffix = ".circuitsvis.json";

/// The attention weights of one layer, (1, H, T, T).
struct CircuitsVisLayer {
    SelectedStage weights;
    std::string name; ///< "L3", before the heads' names; empty: the only layer, without a number
};

/// Writes the arguments of circuitsvis.attention.attention_heads as one JSON object
/// (https://github.com/TransformerLensOrg/CircuitsVis, python/circuitsvis/attention.py):
///
/// "tokens" has T texts. "attention_head_names" has a name for each head, layer after layer: L0H0, L0H1, ...;
/// without layers H0, H1, ... "attention" has the weights of those heads, [head][destination][source], in the
/// shortest digits that give back the float32. "mask_upper_tri" is false if a weight above the diagonal is
/// not 0, because the component would hide it.
///
/// One component shows one list of heads, so the heads of all layers are in one list. Throws Error(input) for
/// more than one text, for keys that are not the queries' tokens, and for weights that are not finite.
void write_circuitsvis(const std::vector<std::string>& tokens, const std::vector<CircuitsVisLayer>& layers,
                       const ByteSink& sink);

} // namespace headscope::exporting
