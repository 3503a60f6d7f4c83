#pragma once

#include "core/run/run.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headscope::run {

/// A run of a text that grows: each call computes the rows of some tokens, and kernels keep what later tokens
/// read of them. For graphs in which the row of a token depends on no later token, with one text; their sizes
/// are those of the longest text. Nodes that do not depend on the tokens are computed by the first call and
/// kept. The numbers equal those of a run over the whole text, bit for bit. A copy is a branch of the text
/// with states of its own; copies share their plan: one thread uses them, one at a time.
class RowRun {
public:
    /// text: the nodes that each call gets rows of: token ids, positions, or nodes that are computed
    /// elsewhere. Others get their numbers from `leaves`. Throws what Plan throws; Error(internal) for a node
    /// that grows and has no kernel.
    RowRun(const graph::Graph& graph, const std::vector<graph::Part>& captures, Leaves leaves,
           const Interventions& interventions, const std::vector<std::string>& text, Backend& backend);
    RowRun(const RowRun& other);
    RowRun& operator=(const RowRun& other) { return *this = RowRun(other); }
    RowRun(RowRun&&) = default;
    RowRun& operator=(RowRun&&) = default;
    ~RowRun() = default;

    const graph::Graph& graph() const { return plan_->graph(); }
    /// Tokens that were run.
    std::int64_t rows() const { return rows_; }
    /// Drops the tokens from `rows` on.
    void truncate(std::int64_t rows);
    /// Takes what the kernels of a run of another size of the same graph have kept.
    void take_states(RowRun& other);

    /// Computes the rows of tokens [rows(), end). text: for each text node its rows of these tokens. wanted:
    /// captured nodes to return, by name; of nodes without rows all. Throws what run throws; rows() is then
    /// as it was.
    std::map<std::string, TensorPtr> compute(std::int64_t end, const std::map<std::string, TensorPtr>& text,
                                             std::span<const std::string> wanted, Progress& progress);
    /// What the kernel of a node keeps; null: nothing.
    const KernelState* state(std::string_view node) const;

private:
    void find_growing(const std::vector<std::string>& text);
    int row_axis(NodeId id) const;
    Shape shape_of_rows(NodeId id, RowRange rows) const;
    void set_leaf(Values& values, NodeId id);
    void compute_step(std::size_t step, Values& values, RowRange rows, const std::vector<bool>& wanted,
                      Progress& progress);
    void finish_node(Values& values, NodeId id, RowRange rows) const;
    void slice_inputs(const Plan::PlannedStep& step, Values& values, RowRange rows,
                      std::vector<std::pair<NodeId, TensorPtr>>& whole) const;

    PlanPtr plan_;
    Leaves leaves_;
    NodeInterventions interventions_;
    std::vector<NodeId> text_;
    std::vector<bool> grows_, keys_grow_; ///< by node; keys_grow_: the axis Tk has the text's tokens
    std::vector<bool> keeps_;             ///< by node: a later call reads it from fixed_
    std::vector<TensorPtr> fixed_;        ///< by node: what does not grow and is read by what does
    std::vector<std::unique_ptr<KernelState>> states_; ///< by step
    std::int64_t rows_ = 0;
    bool began_ = false;
};

} // namespace headscope::run
