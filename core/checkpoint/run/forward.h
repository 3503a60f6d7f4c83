#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/model/stacks.h"
#include "core/run/backend.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The attention of one layer.
struct LayerRun {
    AttentionPlace place;
    Trace trace;
    std::optional<Problem> problem; ///< x is what the projections read: the hidden state after norm1 where
                                    ///< the norms stand before
};

struct ForwardOptions {
    StageSet stages{};                   ///< to keep of each layer's attention, and of block_table()
    std::vector<std::string> nodes{};    ///< further nodes to keep, by their names in a layer or outside
    std::optional<std::int64_t> layer{}; ///< keep those of this layer alone, of each stack that has it
    std::optional<Stack> stack{};        ///< keep those of this stack alone
    bool keep_problems = false;          ///< keep each kept layer's attention as a problem, weights included
    /// Gets each kept layer as soon as it is computed; ForwardResult::layers then stays empty. So one layer
    /// at a time is in memory.
    std::function<void(LayerRun)> take{};
    bool logits = true;
    ModelEdits edits{};
    float temperature = 1.0F; ///< divides the scaled scores of every layer; above 0
};

/// A stage of block_table().
struct BlockRun {
    AttentionPlace place; ///< layer -1: of the whole stack
    TensorId id{};
    TensorPtr tensor;
};

/// A node of ForwardOptions::nodes.
struct NodeRun {
    AttentionPlace place; ///< layer -1: outside the layers of its stack
    std::string name;     ///< in its layer, as it was asked for
    TensorPtr tensor;     ///< with the axes of the node
};

struct ForwardResult {
    std::vector<LayerRun> layers; ///< those kept, in order
    std::vector<BlockRun> blocks; ///< those kept, as they were made
    std::vector<NodeRun> nodes;   ///< those kept, in order
    /// (B, T, D) each: [0] the embedding output (after its norm), [l] the output of layer l, with the rows
    /// that are patched there; the last one is after the final norm, but where that belongs to the head, as
    /// in Hugging Face's hidden_states.
    std::vector<TensorPtr> hidden;
    std::vector<TensorPtr> encoder_hidden; ///< the same of the encoder; empty in a model of one stack
    TensorPtr logits; ///< (B, T, vocab), null when not asked for or when the checkpoint has no head
    ModelEdits edits; ///< that it was run with
};

/// The forward pass in float32, as Hugging Face's modelling code computes it without dropout: a run of the
/// model's graph on a backend; null: on the CPU. Position ids are those it takes by itself, see
/// learned_positions. Padding is never read as a key; its own rows are computed like others. Throws
/// Error(input) for inputs that do not fit the model (ids outside the vocabulary, more tokens than learned
/// positions, wrong counts) and for edits that do not, and for what Model, run::run and the backend's kernels
/// throw; Error(cancelled) between steps.
ForwardResult run_model(const Model& model, const ModelInputs& inputs, const ForwardOptions& options,
                        run::Backend* backend, Progress& progress);

/// The attention of options.layer (which must be given) in options.stack (absent: that of a model of one
/// stack, the decoder's own in an encoder-decoder), with the edits and the temperature, as the pass meets it:
/// what comes after it is not computed. Throws what run_model throws, and Error(input) when the stack has no
/// such layer.
Problem problem_of_layer(const Model& model, const ModelInputs& inputs, const ForwardOptions& options,
                         run::Backend* backend, Progress& progress);

} // namespace headscope::checkpoint
