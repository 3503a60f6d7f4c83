#pragma once

#include "core/graph/node.h"
#include "core/graph/operation.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::graph {

/// Another name of a node: "layers.4.resid_in" for "layers.3.resid_out".
struct Alias {
    std::string name;
    NodeId node;
};

/// A computation: named nodes in topological order, each computed from earlier ones. Immutable and shared:
/// copies are cheap, and any thread may read it. Builder makes graphs.
class Graph {
public:
    std::span<const Node> nodes() const { return data_->nodes; }
    const Node& node(NodeId id) const { return data_->nodes[static_cast<std::size_t>(id)]; }
    const Node& operator[](std::string_view name) const { return node(find(name)); }
    std::span<const Alias> aliases() const { return data_->aliases; }

    /// The node with this name or alias. Throws Error(input) with the nearest names.
    NodeId find(std::string_view name) const;
    /// Nothing if no node has this name or alias.
    std::optional<NodeId> try_find(std::string_view name) const;
    /// The nodes that read this one, in order, each once.
    std::span<const NodeId> readers(NodeId id) const { return data_->readers[static_cast<std::size_t>(id)]; }

    // The questions of Operation, asked for a node. Those that depend on numbers need the numbers of the
    // inputs; see Evaluation, which knows them.
    const Operation& operation(NodeId id) const { return graph::operation(node(id).op); }
    /// Formula in row-vector convention, in the user's language: "scaled = scores ÷ √dk".
    std::string formula(NodeId id) const;
    /// Lines of PyTorch that compute the node from variables with the names of its inputs.
    std::string pytorch(NodeId id) const;
    Cost cost(NodeId id) const;
    /// The cells that the cell `at` depends on; `source` is the index of an input of the node.
    std::vector<ReadSpan> reads(NodeId id, const Index& at) const;
    /// The inputs without their numbers. Valid as long as the graph.
    std::vector<Operand> operands(NodeId id) const;

private:
    friend class Builder;
    struct Data {
        std::vector<Node> nodes;
        std::vector<Alias> aliases;
        std::map<std::string, NodeId, std::less<>> by_name; ///< nodes and aliases
        std::vector<std::vector<NodeId>> readers;
    };
    explicit Graph(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

/// The names of a node and of its inputs in its formula.
Names formula_names(const Node& node);

} // namespace headscope::graph
