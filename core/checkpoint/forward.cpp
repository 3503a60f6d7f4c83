#include "core/checkpoint/forward.h"

#include "core/base/error.h"
#include "core/checkpoint/layers.h"
#include "core/checkpoint/rope.h"

#include <algorithm>
#include <cmath>

namespace headscope {

namespace {

bool causal(ModelFamily family) {
    return family == ModelFamily::gpt2 || family == ModelFamily::llama || family == ModelFamily::mistral ||
           family == ModelFamily::qwen2;
}

/// Norms stand before attention and MLP, and once more at the end; else after their residual sums.
bool pre_norm(ModelFamily family) {
    return causal(family);
}

bool rotary(ModelFamily family) {
    return causal(family) && family != ModelFamily::gpt2;
}

/// One pass: what it needs, and its steps.
class Pass {
public:
    Pass(const Model& model, const ModelInputs& inputs, const ForwardOptions& options,
         const RunAttention& attention, Progress& progress)
        : model_(model), config_(model.config()), inputs_(inputs), options_(options), attention_(attention),
          progress_(progress) {}

    ForwardResult compute();

private:
    MutableTensor embed() const;
    void add_rows(Tensor& x, Slot table, const std::vector<std::int64_t>& rows) const;
    Mask mask_of(std::int64_t l) const;
    Problem problem_of(std::int64_t l, const WeightSet& weights, TensorPtr x) const;
    Trace run_attention(std::int64_t l, const Problem& problem, StageSet wanted) const;
    TensorPtr attend(std::int64_t l, const WeightSet& weights, const TensorPtr& x);
    TensorPtr layer(std::int64_t l, const TensorPtr& x);
    TensorPtr normed(const Tensor& x, const TensorPtr& gain, const TensorPtr& shift) const {
        return norm(x, *gain, shift.get(), config_.norm_eps);
    }
    TensorPtr head(const Tensor& x) const;

    const Model& model_;
    const ModelConfig& config_;
    const ModelInputs& inputs_;
    const ForwardOptions& options_;
    const RunAttention& attention_;
    Progress& progress_;
    std::optional<Rotary> rotary_;
    ForwardResult result_;
};

void Pass::add_rows(Tensor& x, Slot table, const std::vector<std::int64_t>& rows) const {
    const TensorPtr numbers = model_.shared(table);
    const std::int64_t D = config_.D;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        float* const to = x.data() + static_cast<std::int64_t>(i) * D;
        std::transform(to, to + D, numbers->data() + rows[i] * D, to, std::plus<>());
    }
}

MutableTensor Pass::embed() const {
    auto x = std::make_shared<Tensor>(Shape{inputs_.B, inputs_.T, config_.D}, 0.0F);
    add_rows(*x, Slot::words, inputs_.ids);
    if (!rotary(config_.family))
        add_rows(*x, Slot::positions, learned_positions(inputs_, config_));
    if (config_.token_types > 0)
        add_rows(*x, Slot::token_types,
                 inputs_.token_types.empty() ? std::vector<std::int64_t>(inputs_.ids.size(), 0)
                                             : inputs_.token_types);
    if (const TensorPtr gain = model_.shared(Slot::embedding_gain))
        return norm(*x, *gain, model_.shared(Slot::embedding_shift).get(), config_.norm_eps);
    return x;
}

Mask Pass::mask_of(std::int64_t l) const {
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

Problem Pass::problem_of(std::int64_t l, const WeightSet& weights, TensorPtr x) const {
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
    if (const auto gains = options_.gains.find(l); gains != options_.gains.end())
        problem.gains = gains->second;
    if (inputs_.B == 1)
        problem.tokens = inputs_.tokens;
    problem.rotary = rotary_;
    return problem;
}

Trace Pass::run_attention(std::int64_t l, const Problem& problem, StageSet wanted) const {
    try {
        return attention_(problem, wanted, progress_);
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::input)
            throw;
        fail_input("layer " + std::to_string(l) + ": " + fault.what());
    }
}

TensorPtr Pass::attend(std::int64_t l, const WeightSet& weights, const TensorPtr& x) {
    Problem problem = problem_of(l, weights, x);
    const bool keep =
        (!options_.stages.empty() || options_.keep_problems) && (!options_.layer || *options_.layer == l);
    const StageSet wanted = keep ? options_.stages : StageSet();
    Trace trace = run_attention(l, problem, wanted.with(TensorId::output));
    TensorPtr output = trace.slot(TensorId::output);
    if (!keep)
        return output;
    if (!wanted.has(TensorId::output))
        trace.slot(TensorId::output) = nullptr;
    result_.layers.push_back({l, std::move(trace), std::nullopt});
    if (options_.keep_problems)
        result_.layers.back().problem = std::move(problem);
    return output;
}

TensorPtr Pass::layer(std::int64_t l, const TensorPtr& x) {
    using enum Slot;
    const WeightSet w = model_.layer(l);
    if (pre_norm(config_.family)) {
        const TensorPtr middle = sum(*x, *attend(l, w, normed(*x, w[attention_gain], w[attention_shift])));
        const TensorPtr inside = normed(*middle, w[mlp_gain], w[mlp_shift]);
        return sum(*middle, *mlp(*inside, w, config_.activation, progress_));
    }
    const TensorPtr middle = normed(*sum(*x, *attend(l, w, x)), w[attention_gain], w[attention_shift]);
    return normed(*sum(*middle, *mlp(*middle, w, config_.activation, progress_)), w[mlp_gain], w[mlp_shift]);
}

TensorPtr Pass::head(const Tensor& x) const {
    using enum Slot;
    const TensorPtr table = model_.shared(Slot::head), bias = model_.shared(head_bias);
    const TensorPtr dense = model_.shared(head_dense);
    if (dense == nullptr)
        return linear_by_rows(x, *table, bias.get(), progress_);
    const MutableTensor inside = linear(x, *dense, model_.shared(head_dense_bias).get(), progress_);
    // RoBERTa's head has the exact GELU, whatever the layers have.
    activate(*inside, config_.family == ModelFamily::roberta ? Activation::gelu : config_.activation);
    const TensorPtr ready = normed(*inside, model_.shared(head_gain), model_.shared(head_shift));
    return linear_by_rows(*ready, *table, bias.get(), progress_);
}

ForwardResult Pass::compute() {
    const auto finite = [](const Tensor& x) {
        return std::ranges::all_of(x.values(), [](float v) { return std::isfinite(v); });
    };
    progress_.check();
    if (rotary(config_.family))
        rotary_ = rotary_tables(config_, inputs_.T);
    TensorPtr x = embed();
    result_.hidden.push_back(x);
    const auto steps = static_cast<float>(config_.layers + 1);
    for (std::int64_t l = 0; l < config_.layers; ++l) {
        progress_.check();
        progress_.set_part(static_cast<float>(l) / steps, static_cast<float>(l + 1) / steps);
        x = layer(l, x);
        if (!finite(*x))
            fail_input("the output of layer " + std::to_string(l) +
                       " leaves float32's range; check the weights and gains");
        result_.hidden.push_back(x);
    }
    progress_.set_part(0.0F, 1.0F);
    progress_.report(static_cast<float>(config_.layers) / steps);
    if (const TensorPtr gain = model_.shared(Slot::final_gain)) {
        x = normed(*x, gain, model_.shared(Slot::final_shift));
        result_.hidden.back() = x;
    }
    if (options_.logits && model_.has_head())
        result_.logits = head(*x);
    progress_.report(1.0F);
    return std::move(result_);
}

void check_options(const ForwardOptions& options, const ModelConfig& config) {
    const auto check_layer = [&](std::int64_t l) {
        if (l < 0 || l >= config.layers)
            fail_input("there is no layer " + std::to_string(l) + "; layers are numbered 0 to " +
                       std::to_string(config.layers - 1));
    };
    if (options.layer)
        check_layer(*options.layer);
    for (const auto& [l, gains] : options.gains)
        check_layer(l);
}

} // namespace

ForwardResult run_model(const Model& model, const ModelInputs& inputs, const ForwardOptions& options,
                        const RunAttention& attention, Progress& progress) {
    check_options(options, model.config());
    check_inputs(inputs, model.config());
    model.require_runnable();
    return Pass(model, inputs, options, attention, progress).compute();
}

} // namespace headscope
