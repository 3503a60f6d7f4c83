#pragma once

#include "core/attention/problem.h"
#include "core/graph/evaluate.h"

namespace headscope {

/// A problem as a graph, and its numbers. Each tensor of the stage table that the problem has is a node of
/// the same name; explicit masks are the nodes `mask` (added numbers) and `allowed`.
struct ProblemGraph {
    graph::Graph graph;
    graph::Leaves leaves;
};
/// Throws the errors of validate.
ProblemGraph graph_of(const Problem& problem);

} // namespace headscope
