#pragma once

#include "core/base/message.h"
#include "core/graph/attributes.h"
#include "core/graph/axes.h"
#include "core/graph/location.h"
#include "core/graph/op.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::graph {

/// The index of a node in its graph.
using NodeId = std::int32_t;

/// The words for a node, and the step of the strip that shows it.
struct Label {
    std::string_view name;   ///< in files, within its layer: "q_heads"
    Message title;           ///< on screen: "Queries by head"
    std::string_view symbol; ///< in formulas: "Q_h"
    Step step = Step::x;
};

/// One input of a node, and the name that the node's formula has for it: the residual stream that leaves one
/// layer is "resid_in" in the next one.
struct Reading {
    NodeId node = -1;
    std::string name;
    std::string symbol;
    bool operator==(const Reading&) const = default;
};

/// One named array of a computation, and the way it is computed from other arrays.
struct Node {
    std::string name;     ///< unique in the graph: "layers.3.scores", "layers.3.W_Q", "logits"
    std::size_t prefix{}; ///< characters of `name` that name the layer: 9 in "layers.3.scores"
    Message title;
    std::string symbol;
    Op op = Op::input;
    Attributes attributes;
    std::vector<Reading> inputs; ///< earlier nodes, in the order that the operation defines
    Axes axes;
    Location location;
    Role role = Role::none;

    /// The name within the layer: "scores".
    std::string_view local_name() const { return std::string_view(name).substr(prefix); }
};

} // namespace headscope::graph
