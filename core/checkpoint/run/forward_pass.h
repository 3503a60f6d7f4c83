#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/engine/cpu/dense.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace headscope::checkpoint {

/// The steps of a forward pass over one batch, for run_model, ModelRun and Generator. Neither the model nor
/// the inputs may go before it. Any thread may use it, with a CpuDense of its own.
class ForwardPass {
public:
    /// The attention of layer l: what it does with the problem is the caller's, who returns `output`, (B, T,
    /// D).
    using Attend = std::function<TensorPtr(std::int64_t l, Problem problem)>;

    /// Tokens `first` and up of each text, in [0, T): where T is said below, T - first tokens are meant. The
    /// attention of a problem reads all T, so that keys and values of the others are the caller's. Throws
    /// Error(input) for a model that lacks weights and for inputs that do not fit it.
    ForwardPass(const Model& model, const ModelInputs& inputs, std::int64_t first = 0);

    /// What is computed around the attention, as it is made: stages of block_table(). Those that exist once
    /// have layer -1. A tensor may change afterwards.
    using Watch = std::function<void(std::int64_t layer, TensorId id, const Tensor& tensor)>;
    void watch(Watch watch) { watch_ = std::move(watch); }

    /// The embedding output, (B, T, D).
    TensorPtr embed(cpu::CpuDense& cpu) const;
    /// Layers hidden.size() - 1 and up, from the last of `hidden`, (B, T, D): appends what each gives, the
    /// last after the final norm. Throws Error(input) for numbers beyond float32's range and what `attend`
    /// throws, with the layer's number; Error(cancelled) between steps.
    void run_layers(cpu::CpuDense& cpu, std::vector<TensorPtr>& hidden, const Attend& attend,
                    Progress& progress) const;
    /// (B, T, vocab) from the last hidden state; null when the checkpoint has no head.
    TensorPtr logits(cpu::CpuDense& cpu, const Tensor& hidden, const Progress& cancel) const;
    /// Layer l's attention as the checkpoint has it, over the hidden state before the layer. Its x is what
    /// the projections read: the hidden state after norm1 where the norms stand before.
    Problem problem(cpu::CpuDense& cpu, std::int64_t l, const TensorPtr& hidden) const;

private:
    std::int64_t rows() const { return inputs_.T - first_; }
    void add_rows(Tensor& x, WeightId table, const std::vector<std::int64_t>& of_tokens) const;
    Mask mask_of(std::int64_t l) const;
    Problem problem_of(std::int64_t l, const WeightSet& weights, TensorPtr x) const;
    TensorPtr layer(cpu::CpuDense& cpu, std::int64_t l, const TensorPtr& x, const Attend& attend,
                    const Progress& cancel) const;
    TensorPtr normed(cpu::CpuDense& cpu, const Tensor& x, const TensorPtr& weight,
                     const TensorPtr& bias) const;
    TensorPtr final_normed(cpu::CpuDense& cpu, const Tensor& x) const;
    /// x after norm1 or norm2 of its layer where that stands in this place, else x.
    TensorPtr norm1(cpu::CpuDense& cpu, const TensorPtr& x, const WeightSet& weights, bool stands) const;
    TensorPtr norm2(cpu::CpuDense& cpu, const TensorPtr& x, const WeightSet& weights, bool stands) const;

    const Model& model_;
    const Architecture& architecture_;
    const ModelInputs& inputs_;
    const std::int64_t first_;
    Watch watch_ = [](std::int64_t, TensorId, const Tensor&) {};
    std::vector<Rotary> rotary_; ///< for each of architecture_.ropes
};

} // namespace headscope::checkpoint
