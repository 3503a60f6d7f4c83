#include "core/checkpoint/run/forward_pass.h"

#include "core/base/error.h"
#include "core/checkpoint/model/layers.h"
#include "core/checkpoint/model/rope.h"

#include <algorithm>
#include <cmath>

namespace headscope::checkpoint {

namespace {

bool causal(ModelFamily family) {
    return family == ModelFamily::gpt2 || family == ModelFamily::llama || family == ModelFamily::mistral ||
           family == ModelFamily::qwen2;
}

/// Norms stand before attention and MLP, and once more at the end; else after their residual sums.
bool pre_norm(ModelFamily family) {
    return causal(family);
}

bool finite(const Tensor& x) {
    return std::ranges::all_of(x.values(), [](float v) { return std::isfinite(v); });
}

} // namespace

ForwardPass::ForwardPass(const Model& model, const ModelInputs& inputs)
    : model_(model), config_(model.config()), inputs_(inputs) {
    check_inputs(inputs, config_);
    model.require_runnable();
    if (rotary(config_.family))
        rotary_ = rotary_tables(config_, inputs.T);
}

TensorPtr ForwardPass::normed(cpu::CpuDense& cpu, const Tensor& x, const TensorPtr& gain,
                              const TensorPtr& shift) const {
    return norm(cpu, x, *gain, shift.get(), config_.norm_eps);
}

void ForwardPass::add_rows(Tensor& x, Slot table, const std::vector<std::int64_t>& rows) const {
    const TensorPtr numbers = model_.shared(table);
    const std::int64_t D = config_.D;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        float* const to = x.data() + static_cast<std::int64_t>(i) * D;
        std::transform(to, to + D, numbers->data() + rows[i] * D, to, std::plus<>());
    }
}

TensorPtr ForwardPass::embed(cpu::CpuDense& cpu) const {
    auto x = std::make_shared<Tensor>(Shape{inputs_.B, inputs_.T, config_.D}, 0.0F);
    add_rows(*x, Slot::words, inputs_.ids);
    if (!rotary(config_.family))
        add_rows(*x, Slot::positions, learned_positions(inputs_, config_));
    if (config_.token_types > 0)
        add_rows(*x, Slot::token_types,
                 inputs_.token_types.empty() ? std::vector<std::int64_t>(inputs_.ids.size(), 0)
                                             : inputs_.token_types);
    else if (!inputs_.token_types.empty())
        add_rows(*x, Slot::words, inputs_.token_types);
    if (const TensorPtr gain = model_.shared(Slot::embedding_gain))
        return normed(cpu, *x, gain, model_.shared(Slot::embedding_shift));
    return x;
}

Mask ForwardPass::mask_of(std::int64_t l) const {
    Mask mask;
    const auto& window = config_.windows[static_cast<std::size_t>(l)];
    if (window)
        mask.emplace_back(SlidingWindowCausalMask{*window});
    else if (causal(config_.family))
        mask.emplace_back(CausalMask{});
    if (std::ranges::find(inputs_.attention_mask, 0) != inputs_.attention_mask.end())
        mask.emplace_back(KeyPaddingMask{
            std::make_shared<const BoolTensor>(BoolTensor{{inputs_.B, inputs_.T}, inputs_.attention_mask})});
    return mask;
}

Problem ForwardPass::problem_of(std::int64_t l, const WeightSet& weights, TensorPtr x) const {
    Problem problem;
    problem.dims = {.B = inputs_.B,
                    .Tq = inputs_.T,
                    .Tk = inputs_.T,
                    .D = config_.D,
                    .Dkv = config_.D,
                    .H = config_.H,
                    .Hkv = config_.Hkv,
                    .dk = config_.dk,
                    .dv = config_.dk};
    problem.x = std::move(x);
    problem.weights = {.W_Q = weights[Slot::W_Q],
                       .W_K = weights[Slot::W_K],
                       .W_V = weights[Slot::W_V],
                       .W_O = weights[Slot::W_O],
                       .b_Q = weights[Slot::b_Q],
                       .b_K = weights[Slot::b_K],
                       .b_V = weights[Slot::b_V],
                       .b_O = weights[Slot::b_O]};
    problem.mask = mask_of(l);
    problem.temperature = static_cast<float>(config_.temperature(l));
    if (inputs_.B == 1)
        problem.tokens = inputs_.tokens;
    problem.rotary = rotary_;
    return problem;
}

Problem ForwardPass::problem(cpu::CpuDense& cpu, std::int64_t l, const TensorPtr& hidden) const {
    const WeightSet w = model_.layer(l);
    return problem_of(l, w,
                      pre_norm(config_.family)
                          ? normed(cpu, *hidden, w[Slot::attention_gain], w[Slot::attention_shift])
                          : hidden);
}

TensorPtr ForwardPass::layer(cpu::CpuDense& cpu, std::int64_t l, const TensorPtr& x, const Attend& attend,
                             const Progress& cancel) const {
    using enum Slot;
    const WeightSet w = model_.layer(l);
    const auto attention = [&](const TensorPtr& in) {
        try {
            return attend(l, problem_of(l, w, in));
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::input)
                throw;
            fail_input("layer " + std::to_string(l) + ": " + fault.what());
        }
    };
    if (pre_norm(config_.family)) {
        const TensorPtr middle =
            sum(cpu, *x, *attention(normed(cpu, *x, w[attention_gain], w[attention_shift])));
        const TensorPtr inside = normed(cpu, *middle, w[mlp_gain], w[mlp_shift]);
        return sum(cpu, *middle, *mlp(cpu, *inside, w, config_.activation, cancel));
    }
    const TensorPtr middle = normed(cpu, *sum(cpu, *x, *attention(x)), w[attention_gain], w[attention_shift]);
    return normed(cpu, *sum(cpu, *middle, *mlp(cpu, *middle, w, config_.activation, cancel)), w[mlp_gain],
                  w[mlp_shift]);
}

void ForwardPass::run_layers(cpu::CpuDense& cpu, std::vector<TensorPtr>& hidden, const Attend& attend,
                             Progress& progress) const {
    const auto steps = static_cast<float>(config_.layers + 1);
    for (auto l = static_cast<std::int64_t>(hidden.size()) - 1; l < config_.layers; ++l) {
        progress.check();
        progress.set_part(static_cast<float>(l) / steps, static_cast<float>(l + 1) / steps);
        hidden.push_back(layer(cpu, l, hidden.back(), attend, progress));
        if (!finite(*hidden.back()))
            fail_input("the output of layer " + std::to_string(l) +
                       " leaves float32's range; check the weights and gains");
    }
    progress.set_part(0.0F, 1.0F);
    progress.report(static_cast<float>(config_.layers) / steps);
    if (const TensorPtr gain = model_.shared(Slot::final_gain))
        hidden.back() = normed(cpu, *hidden.back(), gain, model_.shared(Slot::final_shift));
}

TensorPtr ForwardPass::logits(cpu::CpuDense& cpu, const Tensor& x, const Progress& cancel) const {
    using enum Slot;
    if (!model_.has_head())
        return nullptr;
    const TensorPtr table = model_.shared(Slot::head), bias = model_.shared(head_bias);
    const TensorPtr dense = model_.shared(head_dense);
    if (dense == nullptr)
        return cpu.multiply_by_rows(x, *table, bias.get(), cancel);
    const MutableTensor inside = cpu.multiply(x, *dense, model_.shared(head_dense_bias).get(), cancel);
    // RoBERTa's head has the exact GELU, whatever the layers have.
    activate(cpu, *inside, config_.family == ModelFamily::roberta ? Activation::gelu : config_.activation,
             cancel);
    const TensorPtr ready = normed(cpu, *inside, model_.shared(head_gain), model_.shared(head_shift));
    return cpu.multiply_by_rows(*ready, *table, bias.get(), cancel);
}

} // namespace headscope::checkpoint
