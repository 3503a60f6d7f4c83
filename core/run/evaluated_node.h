#pragma once

#include "core/run/backend.h"

namespace headscope::run {

/// A kernel that evaluates one node in double precision, as its operation defines it, and rounds the result.
std::unique_ptr<const Kernel> make_evaluated_node(const graph::Graph& graph, NodeId node);

} // namespace headscope::run
