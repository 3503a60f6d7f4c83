#pragma once

#include "core/graph/graph.h"
#include "core/graph/part.h"
#include "core/tensor/tensor.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headscope::graph {

/// Array in double precision, with named axes.
struct Array {
    Axes axes;
    std::vector<double> values; ///< row-major

    double at(const Index& cell) const { return values[static_cast<std::size_t>(axes.shape().offset(cell))]; }
    /// Rounded to float32.
    TensorPtr rounded() const;
};

/// The numbers of leaves by name: parameters and inputs. Constants are in the graph.
using Leaves = std::map<std::string, TensorPtr, std::less<>>;
/// Returns the numbers of a parameter or an input; null if it has none. A graph of a large model asks for
/// each parameter when it is needed, so that not all of them are in memory.
using LeafSource = std::function<TensorPtr(const Node&)>;

/// The captured numbers of a run.
class Evaluation {
public:
    const Graph& graph() const { return graph_; }
    /// A captured node, whole or the part that was captured first. Throws Error(input) if it was not
    /// captured.
    const Array& operator[](std::string_view node) const;
    bool has(std::string_view node) const;

    // The inputs of the node must have been captured whole.
    /// The arithmetic of one cell.
    Arithmetic explain(std::string_view node, const Index& at) const;
    /// The cells that one cell depends on, with the numbers of this run.
    std::vector<ReadSpan> reads(std::string_view node, const Index& at) const;
    /// The inputs of a node with their numbers. Valid as long as this object.
    std::vector<Operand> operands(NodeId id) const;

private:
    friend Evaluation evaluate(const Graph&, const LeafSource&, const std::vector<Part>&);
    explicit Evaluation(Graph graph) : graph_(std::move(graph)) {}
    Graph graph_;
    std::map<NodeId, Array> captured_;
};

/// Computes a graph in double precision, operation by operation as each defines itself: the reference for
/// every backend. Computes what the captures need and frees a value after its last reader. Throws
/// Error(input) for a capture that does not exist, and for a leaf without numbers or with numbers of another
/// shape.
Evaluation evaluate(const Graph& graph, const LeafSource& leaves, const std::vector<Part>& captures);
Evaluation evaluate(const Graph& graph, const Leaves& leaves, const std::vector<Part>& captures);
/// Captures every node.
Evaluation evaluate_all(const Graph& graph, const LeafSource& leaves);

} // namespace headscope::graph
