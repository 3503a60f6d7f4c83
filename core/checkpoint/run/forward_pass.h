#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/model/stacks.h"
#include "core/engine/cpu/dense.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::checkpoint {

/// The residual streams of a pass: [0] is the embedding output, (B, T, D), [s + 1] what leaves attention s of
/// the stack and the MLP where that comes next; the last one is after the final norm, but where that belongs
/// to the head. A list may be cut at its end: what is missing is computed.
struct Streams {
    std::vector<TensorPtr> encoder; ///< of an encoder-decoder; else empty
    std::vector<TensorPtr> own;     ///< with a cross-attention two for each layer
};

/// The steps of a forward pass over one batch, with what the user changed, for run_model, ModelRun and
/// Generator. Neither the model, the inputs nor the edits may go before it, and check_edits has to let the
/// edits pass before it runs. Any thread may use it, with a CpuDense of its own.
class ForwardPass {
public:
    /// Attention n (see stacks.h) with its edits: what it does with the problem is the caller's, who returns
    /// `output`, (B, T, D), or null to end the pass there.
    using Attend = std::function<TensorPtr(std::int64_t n, Problem problem)>;

    /// Tokens `first` and up of each text, in [0, T): where T is said below, T - first tokens are meant. The
    /// attention of a problem reads all T, so that keys and values of the others are the caller's. An encoder
    /// reads all of its text. Throws Error(input) for a model that lacks weights and for inputs that do not
    /// fit it.
    ForwardPass(const Model& model, const ModelInputs& inputs, const ModelEdits& edits,
                std::int64_t first = 0);

    /// What is computed around the attention, as it is made: stages of block_table(). Those that exist once
    /// in a stack have layer -1. A tensor may change afterwards.
    using Watch = std::function<void(AttentionPlace place, TensorId id, const Tensor& tensor)>;
    void watch(Watch watch) { watch_ = std::move(watch); }

    /// Of an encoder-decoder: the pass of the encoder over the source, whose attentions have the same numbers
    /// and whose streams are its own. It must not outlive what this pass was given.
    ForwardPass encoder() const;

    /// Computes what is missing of `streams`, up to the attention where `attend` ended the pass. Throws
    /// Error(input) for numbers beyond float32's range and what `attend` throws, with the layer's number;
    /// Error(cancelled) between steps.
    void run(cpu::CpuDense& cpu, Streams& streams, const Attend& attend, Progress& progress) const;
    /// A stage of attention n or of what follows it with the rows that the edits patch there.
    TensorPtr patched(std::int64_t n, TensorId id, TensorPtr tensor) const;
    /// Writes these rows into the stage.
    void patch(std::int64_t n, TensorId id, Tensor& tensor) const;
    /// The embedding output, (B, T, D).
    TensorPtr embed(cpu::CpuDense& cpu) const;
    /// What attention n, and the MLP where the MLP follows it, make of the stream x; null where `attend`
    /// ended the pass. source: the encoder's output, which a cross-attention reads. Throws what run throws.
    TensorPtr step(cpu::CpuDense& cpu, std::int64_t n, const TensorPtr& x, const TensorPtr& source,
                   const Attend& attend, const Progress& cancel) const;
    /// x (B, T, D) after the final norm with its edits, which the model must have.
    TensorPtr final_normed(cpu::CpuDense& cpu, const Tensor& x) const;
    /// Its weight and bias with their edits; null where the model has none.
    WeightSet final_norm_weights() const;
    /// What the head's table multiplies, (B, T, D), from the last of the model's own streams; null when the
    /// checkpoint has no head.
    TensorPtr head_input(cpu::CpuDense& cpu, const Tensor& hidden, const Progress& cancel) const;
    /// (B, T, vocab) from that.
    TensorPtr logits_of(cpu::CpuDense& cpu, const Tensor& head_in, const Progress& cancel) const;
    /// (B, T, vocab) from the last of the model's own streams; null likewise.
    TensorPtr logits(cpu::CpuDense& cpu, const Tensor& hidden, const Progress& cancel) const;
    /// Attention n with the checkpoint's own weights and no gains, and with all streams before it. Its x is
    /// what the projections read: the stream after norm1, with that norm's edits, where the norms stand
    /// before.
    Problem problem(cpu::CpuDense& cpu, std::int64_t n, const Streams& streams) const;

private:
    struct Part {
        float begin, end;
    };
    void saw(AttentionPlace place, TensorId id, const Tensor& tensor) const {
        if (watch_)
            watch_(place, id, tensor);
    }
    std::int64_t rows() const { return inputs_.T - first_; }
    AttentionPlace place_of(std::int64_t n) const;
    std::string words_of(std::int64_t n) const;
    /// All of attention n and what follows it, with the edits.
    WeightSet layer(std::int64_t n) const;
    /// Whether it came to the stack's end.
    bool run_stack(cpu::CpuDense& cpu, std::vector<TensorPtr>& streams, const TensorPtr& source,
                   const Attend& attend, Progress& progress, Part part) const;
    void add_rows(Tensor& x, WeightId table, const std::vector<std::int64_t>& of_tokens) const;
    Mask mask_of(AttentionPlace place) const;
    Problem problem_of(std::int64_t n, const WeightSet& weights, TensorPtr x, const TensorPtr& source) const;
    bool has_first_norm(std::int64_t n) const;
    TensorPtr normed(cpu::CpuDense& cpu, const Tensor& x, const TensorPtr& weight,
                     const TensorPtr& bias) const;
    /// x after norm1 or norm2 of its layer where that stands in this place, else x.
    TensorPtr norm1(cpu::CpuDense& cpu, const TensorPtr& x, const WeightSet& weights, bool stands) const;
    TensorPtr norm2(cpu::CpuDense& cpu, const TensorPtr& x, const WeightSet& weights, bool stands) const;

    const Model& model_;
    const Architecture& architecture_;
    const ModelInputs& inputs_;
    const ModelEdits& edits_;
    const std::int64_t first_;
    Stack stack_ = Stack::own;   ///< or that of the encoder, whose pass a pass of the whole model runs
    Watch watch_;                ///< may be empty
    std::vector<Rotary> rotary_; ///< for each of architecture_.ropes
    TensorPtr additive_;         ///< what the architecture adds to the scaled scores; null: nothing
};

/// (B, T, D) each: what leaves each layer, as Hugging Face lists hidden_states. per_layer: attentions of
/// each.
std::vector<TensorPtr> hidden_states(const std::vector<TensorPtr>& streams, std::int64_t per_layer);

} // namespace headscope::checkpoint
