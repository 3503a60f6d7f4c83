#pragma once

#include "core/checkpoint/graph/text_graph.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/stacks.h"
#include "core/checkpoint/weights/weight_set.h"
#include "core/run/run.h"
#include "core/trace/tensor_id.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace headscope::checkpoint {

/// The nodes of a run that are shown together: those around one attention, or those before the first layer of
/// a stack and after the last one, for one text. Numbers never change; any thread may read them.
struct RunPart {
    RunPart(AttentionPlace at, TextGraphPtr of) : place(at), text(std::move(of)) { nodes.fill(no_node); }

    static constexpr graph::NodeId no_node = -1;

    AttentionPlace place; ///< layer -1: before and after the layers
    TextGraphPtr text;
    /// Captured the nodes, and those that they are computed from within the layer: parameters too, but no
    /// tables.
    run::RunPtr run;
    /// By tensor: rows of block_table(), and `output`, which is attention's; no_node for others.
    std::array<graph::NodeId, tensor_count> nodes;
    /// Tensors in place of those of the run: a stage that is patched, as the layer computes it; of logits and
    /// probabilities one row, that of `position`, (1, 1, vocab).
    std::map<TensorId, TensorPtr> given;
    WeightSet weights;                     ///< that they were computed with, edits included
    WeightSet own;                         ///< the checkpoint's
    std::vector<PatchedRows> patched = {}; ///< see LayerEdits

    // Before and after the layers. resid_in is what enters layer 0.
    std::int64_t position = 0;
    TensorPtr head_in; ///< (1, 1, d_embed), the row that the head's table multiplies; null without a head

    const ModelStages& stages() const { return text->model()->stages(); } ///< of the whole model
    const ModelConfig& config() const;                                    ///< of the stack
    /// Tokens: each part of a model has what enters a layer, resid_in.
    std::int64_t T() const { return find(TensorId::resid_in)->shape()[1]; }

    /// A stage, or a weight of block_weight_table(), of a table without the rows that edits changed; null
    /// where there is none.
    const TensorPtr& find(TensorId id) const;
    /// The number at an address of the whole text, of a table with its edits. The tensor must be there, and
    /// of logits the row.
    float value(TensorId id, Index at) const;
    /// Returns true if the user set the number in place of what the layer computes.
    bool is_set(TensorId id, const Index& at) const;
    /// The checkpoint's own number of a weight that is there.
    float own_value(TensorId weight, const Index& at) const;
    /// The row of a table that is there, with its edits: its numbers.
    std::span<const float> table_row(TensorId table, std::int64_t row) const;

    const graph::Graph& graph() const { return text->graph(); }
    /// no_node for a stage that this part does not have.
    graph::NodeId node(TensorId stage) const { return nodes[static_cast<std::size_t>(stage)]; }
    /// The stage that a node is; nothing for a node between stages.
    std::optional<TensorId> stage_of(graph::NodeId node) const;
    /// A captured node or a constant; null for others.
    const Tensor* numbers(graph::NodeId node) const;
    /// Returns true if the numbers of all inputs of a node are there.
    bool can_explain(graph::NodeId node) const;
    /// The arithmetic of one cell of a node that it can explain, as its operation describes it.
    graph::Arithmetic explain(graph::NodeId node, const Index& at) const;
};
using RunPartPtr = std::shared_ptr<const RunPart>;

/// How much each part adds to the residual stream at each token: Euclidean lengths of rows of D numbers.
struct StackLengths {
    std::vector<float> begin;               ///< (T) of what enters layer 0
    std::vector<std::vector<float>> layers; ///< (L, T) of what follows an attention, and the MLP where that
                                            ///< comes next, minus what entered
};

/// (T): the lengths of the rows of x, (1, T, D).
std::vector<float> row_lengths(const Tensor& x);

} // namespace headscope::checkpoint
