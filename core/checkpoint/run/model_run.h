#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/checkpoint/graph/text_graph.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/model/stacks.h"
#include "core/checkpoint/run/run_part.h"
#include "core/trace/attention_set.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace headscope::checkpoint {

class ModelRun;
using ModelPtr = std::shared_ptr<const Model>;
using ModelRunPtr = std::shared_ptr<const ModelRun>;

/// A checkpoint's forward pass over one text, with what the user changed: all layers' attention weights as a
/// set of heads, each layer's attention as a problem, hidden states and logits. Its numbers never change; any
/// thread may use every member.
class ModelRun final : public AttentionSet {
public:
    struct Options {
        /// What the kept attention weights may take together, at most a quarter of the free memory; those of
        /// layers beyond it are recomputed from the layer's input when they are asked for, and of a large
        /// layer only the part that is. Few, since the window holds up to three runs.
        std::size_t kept_bytes = std::size_t{32} << 20U;
        /// A layer whose weights take more is never made whole for the sake of a part.
        std::size_t whole_bytes = std::size_t{256} << 20U;
    };

    /// Runs the model. What `before` - a run of the same model, or null - has of these inputs is shared, not
    /// computed: all up to the first attention whose edits differ, an encoder's part, and in causal models
    /// every token of a text that these inputs go on with. inputs.B is 1. Throws what run_model throws, and
    /// Error(input) for edits of a wrong shape or layer; Error(cancelled).
    static ModelRunPtr compute(const ModelPtr& model, const ModelInputs& inputs, const ModelEdits& edits,
                               const ModelRunPtr& before, const Options& options, Progress& progress);

    ~ModelRun() override;

    const Model& model() const;
    const ModelPtr& model_ptr() const;
    const ModelInputs& inputs() const;
    const ModelEdits& edits() const;
    /// The graph of this text.
    const TextGraphPtr& text() const;
    /// What the run keeps as a run of that graph, which later runs share: the residual stream at each
    /// attention, the outputs of the stacks, and attention weights.
    const run::RunPtr& kept() const;
    /// The number of the first attention that was computed and not shared (see stacks.h); the count of them
    /// when only the head was.
    std::int64_t computed_from() const;

    /// Attention n without its edits and gains: the checkpoint's own weights, but x as this run has it (edits
    /// of earlier attentions included), tokens, mask, rotary tables. Its weight tensors are the same objects
    /// for every run of a model as long as one is alive.
    Problem problem(std::int64_t n) const;
    /// (1, T, D): what attention n reads before its norm, without rows that are patched there; of an
    /// encoder's attention (1, Ts, D).
    const TensorPtr& stream(std::int64_t n) const;
    /// (1, T, D): 0 the embedding output, l the output of layer l, as in ForwardResult.
    const TensorPtr& hidden(std::int64_t l) const;
    /// (1, T, vocab), computed anew and not kept: of a long text it is larger than all the rest. Null when
    /// the checkpoint has no head.
    TensorPtr logits() const;
    /// (1, 1, vocab): those of one position in [0, T), and kept until another one is asked for. Null
    /// likewise. Waits while a run that followed this one is being computed. Throws Error(cancelled).
    TensorPtr logits_at(std::int64_t position, const Progress& cancel) const;

    // The weights of a stack; the members without one are those of Stack::own.
    const AttentionInfo& info(Stack stack) const;
    /// What the queries and the keys of a stack are.
    const ModelInputs& read_by_queries(Stack stack) const;
    const ModelInputs& read_by_keys(Stack stack) const;
    /// (1, H, Tq, Tk) of attention n, held together: of a long text several gigabytes.
    TensorPtr weights(std::int64_t n) const;
    /// (1, H, count, Tk): the same of queries [first, first + count). Those of a layer that is not kept are
    /// made without those of its other queries. Throws Error(cancelled).
    TensorPtr rows(std::int64_t n, std::int64_t first, std::int64_t count, const Progress& cancel) const;
    /// A part of one head of attention n, as AttentionSet::read_part gives it.
    void read_weights(std::int64_t n, std::int64_t h, const MapPart& part, std::span<float> to) const;
    /// (1, H, Tk) of attention n, computed anew: see AttentionSet::brought.
    TensorPtr brought_by(std::int64_t n) const;

    /// What stands before the first layer of a stack and after the last one, with the logits of one position
    /// in [0, T), but of an encoder. Throws Error(cancelled).
    RunPartPtr ends(Stack stack, std::int64_t position, Progress& progress) const;

    /// The numbers around attention n with this run's edits, computed anew from what enters there. Throws
    /// likewise.
    RunPartPtr around(std::int64_t n, Progress& progress) const;
    /// Throws likewise.
    StackLengths lengths(Stack stack, Progress& progress) const;

    const AttentionInfo& info() const override { return info(Stack::own); }
    const std::vector<std::string>& query_tokens(std::int64_t l) const override;
    const std::vector<std::string>& key_tokens(std::int64_t l) const override;
    TensorPtr layer(std::int64_t l) const override;
    void read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const override;
    TensorPtr brought(std::int64_t l) const override;

private:
    class State;
    explicit ModelRun(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace headscope::checkpoint
