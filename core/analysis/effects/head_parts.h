#pragma once

#include "core/graph/graph.h"
#include "core/graph/part.h"
#include "core/run/run.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::analysis {

/// The numbers of a run that heads of an attention mix at n queries. `heads` is H, or 1 for a single one.
struct MixedValues {
    TensorPtr weights; ///< (1, heads, n, Tk)
    TensorPtr values;  ///< (1, key/value heads, Tk, dv): the numbers that the weights multiply
    TensorPtr gates;   ///< (1, heads, n, dv); null: the heads have none
    TensorPtr W_O;     ///< (heads dv, D)
    TensorPtr gains;   ///< (heads)
};

/// The parts of a graph that hold them, to capture in a run.
class MixedParts {
public:
    /// contributions: the node with that name in an attention. The graph must outlive this object. head: its
    /// number; nothing: all heads. Throws Error(internal) if the head outputs are not sums of values.
    MixedParts(const graph::Graph& graph, const graph::Node& contributions, graph::Range queries,
               std::optional<std::int64_t> head);

    void add_to(std::vector<graph::Part>& captures) const;
    /// run: has captured them.
    MixedValues of(const run::Run& run) const;

private:
    graph::Part weights_, values_, W_O_, gains_;
    const graph::Node* gate_ = nullptr; ///< null: the head outputs have none
    graph::Part open_;                  ///< the numbers that the gate's function reads
};

/// The contribution of a head along a direction d_i for each query i, (n, D), split by source token, (n, Tk):
/// head gain times A[i,j] (gate * v_j) W_O . d_i. head: its index in `mixed`.
Tensor parts_by_source(const MixedValues& mixed, std::int64_t head, const Tensor& directions);

} // namespace headscope::analysis
