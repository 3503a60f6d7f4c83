#pragma once

#include "core/graph/evaluate.h"

#include <string>
#include <vector>

namespace headscope::test {

/// A graph for tests of operations.
struct SampleGraph {
    std::string name;
    graph::Graph graph;
};

/// Small graphs that have every operation, and every variant of it, at least once.
std::vector<SampleGraph> sample_graphs();

/// Random numbers for the leaves: ids within their tables, flags, and other numbers in [-1, 1).
graph::Leaves random_leaves(const graph::Graph& graph, std::uint64_t seed);

} // namespace headscope::test
