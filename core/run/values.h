#pragma once

#include "core/graph/graph.h"
#include "core/run/intervention.h"
#include "core/run/part.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headscope::run {

using graph::NodeId;

/// A row of a softmax that is minus infinity throughout: query i of head h in batch entry b may attend to no
/// key.
struct EmptyRow {
    NodeId node;
    std::int64_t b, h, i;
    bool operator==(const EmptyRow&) const = default;
};

/// Tokens [first, end) of a text.
struct RowRange {
    std::int64_t first = 0, end = 0;
    std::int64_t count() const { return end - first; }
    bool operator==(const RowRange&) const = default;
};

/// What a kernel keeps of the tokens that were run, for those that follow: keys and values.
class KernelState {
public:
    KernelState() = default;
    KernelState(const KernelState&) = delete;
    KernelState& operator=(const KernelState&) = delete;
    virtual ~KernelState() = default;
    virtual std::unique_ptr<KernelState> clone() const = 0;
    /// Drops the tokens from `rows` on.
    virtual void truncate(std::int64_t rows) = 0;
};

/// The numbers of the nodes during a run, by node. Kernels read the inputs of their nodes and fill their
/// nodes.
class Values {
public:
    explicit Values(std::size_t nodes) : nodes_(nodes) {}

    /// The numbers of an input, or those of a node of the kernel that are known from an earlier run.
    const Tensor& operator[](NodeId id) const { return *at(id).numbers; }
    /// Null if they are not known.
    const Tensor* find(NodeId id) const { return at(id).numbers; }
    /// The owner of the numbers of a leaf; for caches by identity.
    const TensorPtr& owner(NodeId id) const { return at(id).holder(); }
    /// The memory to fill; null if the node is not stored, or if none of its heads is computed. Heads that
    /// are not computed have their numbers already.
    Tensor* out(NodeId id) const { return at(id).out; }
    /// The part of the node that out() has; null: all of it.
    const Box* part(NodeId id) const { return at(id).part; }
    /// The heads to compute.
    HeadSet computed(NodeId id) const { return at(id).computed; }
    /// The rows of a table that stand in place of those of its numbers; see Step::reads_changed_rows.
    std::span<const NodeIntervention> changed_rows(NodeId id) const { return at(id).changed_rows; }

    /// In a RowRun: the tokens whose rows are computed; null: all. A node that grows has the rows of these
    /// tokens alone; what a kernel reads of earlier ones it keeps in state().
    const RowRange* rows() const { return rows_; }
    bool grows(NodeId id) const { return at(id).grows; }
    std::unique_ptr<KernelState>& state() { return *state_; }

    std::vector<EmptyRow> empty_rows{};               ///< of softmax nodes, appended by kernels
    float progress_begin = 0.0F, progress_end = 1.0F; ///< part of the progress for this kernel to report

private:
    friend class Execution;
    friend class RowRun;
    struct Node {
        const TensorPtr& holder() const { return shared != nullptr ? *shared : owner; }
        TensorPtr owner{};
        const TensorPtr* shared = nullptr; ///< in place of `owner`: a given leaf, or a node of the run before
        const Tensor* numbers = nullptr;
        Tensor* out = nullptr;
        const Box* part = nullptr;
        HeadSet dirty = 0, wanted = 0, computed = 0;
        HeadSet changed = 0; ///< heads that the previous run has, and that only interventions change
        std::span<const NodeIntervention> changed_rows{};
        bool grows = false; ///< in a RowRun: depends on the tokens of the text
    };
    const Node& at(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
    Node& at(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
    std::vector<Node> nodes_;
    const RowRange* rows_ = nullptr;
    std::unique_ptr<KernelState>* state_ = nullptr;
};

} // namespace headscope::run
