#pragma once

#include "core/graph/evaluate.h"
#include "core/run/part.h"

#include <span>
#include <vector>

namespace headscope::run {

/// A change of a node after it is computed, or of a leaf: an edit of a parameter, a head gain, an ablation,
/// an activation that is set by hand or comes from another run.
struct Intervention {
    enum class Kind : std::uint8_t { set, add, scale };
    graph::Part part;
    Kind kind = Kind::set;
    TensorPtr values; ///< the shape of the part, or rank 0: one number for all cells
};
/// Applied in this order.
using Interventions = std::vector<Intervention>;

/// An intervention on a node of one graph.
struct NodeIntervention {
    graph::NodeId node = -1;
    Intervention::Kind kind = Intervention::Kind::set;
    Box box{};
    TensorPtr values;
};
/// The interventions of one run, ordered by node; those on one node keep their order.
using NodeInterventions = std::vector<NodeIntervention>;

/// Throws Error(input) with the node's name for an unknown node, a part outside its axes, and values that are
/// missing or of another shape.
NodeInterventions resolve(const graph::Graph& graph, const Interventions& interventions);

/// Those on one node.
std::span<const NodeIntervention> of_node(const NodeInterventions& all, graph::NodeId node);
/// Returns true if each of them sets all cells with one index of the first axis.
bool set_whole_rows(std::span<const NodeIntervention> interventions, const Shape& shape);
bool same(std::span<const NodeIntervention> a, std::span<const NodeIntervention> b);

/// Changes the numbers of some heads of a node.
void apply(std::span<const NodeIntervention> interventions, const HeadAxis& axis, HeadSet heads,
           Tensor& numbers);

} // namespace headscope::run
