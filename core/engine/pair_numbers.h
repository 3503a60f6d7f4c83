#pragma once

#include "core/attention/mask.h"
#include "core/graph/graph.h"

#include <cstdint>
#include <optional>

namespace headscope::engine {

/// Numbers for pairs of queries and keys: a node with axes among (B, H, Tq, Tk), the last of them Tk.
struct PairNumbers {
    graph::NodeId node = -1;
    MaskRows::Strides strides{};
};

/// Returns nothing if the axes are others. Tk: the number of keys.
std::optional<PairNumbers> pair_numbers(graph::NodeId id, const graph::Node& node, std::int64_t Tk);

/// The inputs of a mask: numbers that it adds to the scores, and flags of allowed keys. An absent input has
/// no node.
struct MaskInputs {
    PairNumbers added{}, allowed{};
};
/// Those of a mask node. Returns nothing if one of them has other axes.
std::optional<MaskInputs> mask_inputs(const graph::Graph& graph, graph::NodeId masked);

} // namespace headscope::engine
