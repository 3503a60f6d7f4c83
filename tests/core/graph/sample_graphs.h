#pragma once

#include "core/graph/evaluate.h"

#include <string>
#include <vector>

namespace headscope::graph {

/// A graph for tests of operations.
struct SampleGraph {
    std::string name;
    Graph graph;
};

/// Small graphs that have every operation, and every variant of it, at least once.
std::vector<SampleGraph> sample_graphs();

/// Random numbers for the leaves: ids within their tables, flags, and other numbers in [-1, 1).
Leaves random_leaves(const Graph& graph, std::uint64_t seed);

} // namespace headscope::graph
