#include "core/analysis/effects/stream_terms.h"

#include <algorithm>

namespace headscope::analysis {

using graph::NodeId;
using graph::Op;
using graph::Role;

bool is_norm(const graph::Node& node) {
    return node.op == Op::rms_norm || node.op == Op::layer_norm;
}

bool is_norm_of_stream(const graph::Node& node) {
    return node.role == Role::stream && is_norm(node);
}

bool changes_branch(const graph::Node& node) {
    return node.role == Role::adds && (is_norm(node) || node.op == Op::scale);
}

std::vector<StreamTerm> terms_of_stream(const graph::Graph& graph, NodeId state) {
    std::vector<StreamTerm> terms;
    const auto is_sum = [](const graph::Node& node) {
        return node.role == Role::stream && node.op == Op::add;
    };
    while (is_sum(graph.node(state)) || is_norm_of_stream(graph.node(state))) {
        const graph::Node& node = graph.node(state);
        if (is_sum(node))
            for (std::size_t n = node.inputs.size(); n-- > 1;)
                terms.push_back({node.inputs[n].node, n + 1 == node.inputs.size() ? state : -1});
        else
            terms.push_back({state, state});
        state = node.inputs.front().node;
    }
    terms.push_back({state, state});
    std::ranges::reverse(terms);
    return terms;
}

} // namespace headscope::analysis
