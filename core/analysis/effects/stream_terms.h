#pragma once

#include "core/graph/graph.h"

#include <vector>

namespace headscope::analysis {

/// A node that is added to the residual stream, or a norm that replaces the residual stream.
struct StreamTerm {
    graph::NodeId node = -1;
    graph::NodeId state = -1; ///< the residual stream with this term; -1: other terms of its sum follow
};

/// The terms of a state of the residual stream in the order in which they enter it. The first one is the
/// token embedding, or the product that gives it D numbers. Not for models with several copies of the
/// residual stream.
std::vector<StreamTerm> terms_of_stream(const graph::Graph& graph, graph::NodeId state);

/// Returns true for RMSNorm and LayerNorm.
bool is_norm(const graph::Node& node);
/// Returns true for a norm that replaces the residual stream.
bool is_norm_of_stream(const graph::Node& node);
/// Returns true for a norm or a constant factor between the output of a branch and the residual stream.
bool changes_branch(const graph::Node& node);

} // namespace headscope::analysis
