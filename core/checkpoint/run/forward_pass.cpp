#include "core/checkpoint/run/forward_pass.h"

#include "core/base/error.h"
#include "core/checkpoint/model/layers.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/rope.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headscope::checkpoint {

namespace {

/// The slopes of Press et al. 2022: a geometric sequence for a power of two of heads, and for others every
/// second number of the next sequence behind it.
std::vector<float> alibi_slopes(std::int64_t H) {
    const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(H)));
    std::vector<float> slopes;
    for (std::int64_t h = 0; h < H; ++h) {
        const double step = h < power ? 8.0 / static_cast<double>(power) : 4.0 / static_cast<double>(power);
        const auto factor = static_cast<double>(h < power ? h + 1 : 2 * (h - power) + 1);
        slopes.push_back(static_cast<float>(std::exp2(-step * factor)));
    }
    return slopes;
}

/// The nearest bfloat16, ties to even.
float as_bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF0000U);
}

/// (B, H, 1, T), added to the scaled scores.
TensorPtr alibi(const Architecture& architecture, const ModelInputs& inputs) {
    const std::vector<float> slopes = alibi_slopes(architecture.H);
    auto added = std::make_shared<Tensor>(Shape{inputs.B, architecture.H, 1, inputs.T});
    for (std::int64_t b = 0; b < inputs.B; ++b)
        for (std::int64_t h = 0; h < architecture.H; ++h) {
            const float slope = architecture.alibi == Alibi::after_scale
                                    ? slopes[static_cast<std::size_t>(h)]
                                    : as_bfloat16(slopes[static_cast<std::size_t>(h)]);
            std::int64_t place = -1;
            for (std::int64_t j = 0; j < inputs.T; ++j) {
                const bool real = inputs.attention_mask.empty() ||
                                  inputs.attention_mask[static_cast<std::size_t>(b * inputs.T + j)] != 0;
                place += real ? 1 : 0;
                const float term = real ? slope * static_cast<float>(place) : 0.0F;
                added->at(b, h, 0, j) =
                    architecture.alibi == Alibi::after_scale
                        ? term
                        : as_bfloat16(term) / std::sqrt(static_cast<float>(architecture.dk));
            }
        }
    return added;
}

bool finite(const Tensor& x) {
    return std::ranges::all_of(x.values(), [](float v) { return std::isfinite(v); });
}

} // namespace

ForwardPass::ForwardPass(const Model& model, const ModelInputs& inputs, std::int64_t first)
    : model_(model), architecture_(model.architecture()), inputs_(inputs), first_(first) {
    check_inputs(inputs, architecture_);
    model.require_runnable();
    for (const Rope& rope : architecture_.ropes)
        rotary_.push_back(rotary_tables(architecture_, rope, inputs.T, first));
}

TensorPtr ForwardPass::normed(cpu::CpuDense& cpu, const Tensor& x, const TensorPtr& weight,
                              const TensorPtr& bias) const {
    return norm(cpu, x, architecture_.norm, weight.get(), bias.get(), architecture_.norm_eps);
}

TensorPtr ForwardPass::norm1(cpu::CpuDense& cpu, const TensorPtr& x, const WeightSet& weights,
                             bool stands) const {
    return stands ? normed(cpu, *x, weights[WeightId::norm1_weight], weights[WeightId::norm1_bias]) : x;
}

TensorPtr ForwardPass::norm2(cpu::CpuDense& cpu, const TensorPtr& x, const WeightSet& weights,
                             bool stands) const {
    return stands ? normed(cpu, *x, weights[WeightId::norm2_weight], weights[WeightId::norm2_bias]) : x;
}

/// of_tokens: the table's row for each of all T tokens of each text.
void ForwardPass::add_rows(Tensor& x, WeightId table, const std::vector<std::int64_t>& of_tokens) const {
    const TensorPtr numbers = model_.weight(table);
    const std::int64_t D = architecture_.D;
    for (std::int64_t n = 0; n < inputs_.B * rows(); ++n) {
        const std::int64_t token = n / rows() * inputs_.T + first_ + n % rows();
        float* const to = x.data() + n * D;
        std::transform(to, to + D, numbers->data() + of_tokens[static_cast<std::size_t>(token)] * D, to,
                       std::plus<>());
    }
}

TensorPtr ForwardPass::embed(cpu::CpuDense& cpu) const {
    using enum WeightId;
    auto x = std::make_shared<Tensor>(Shape{inputs_.B, rows(), architecture_.D}, 0.0F);
    add_rows(*x, word_table, inputs_.ids);
    if (architecture_.embedding_scale != 1.0)
        for (float& number : x->values())
            number *= static_cast<float>(architecture_.embedding_scale);
    if (architecture_.token_types > 0)
        add_rows(*x, token_type_table,
                 inputs_.token_types.empty() ? std::vector<std::int64_t>(inputs_.ids.size(), 0)
                                             : inputs_.token_types);
    else if (architecture_.word_token_types && !inputs_.token_types.empty())
        add_rows(*x, word_table, inputs_.token_types);
    watch_(-1, TensorId::embedding, *x);
    if (architecture_.position_rows > 0) {
        Tensor positions(x->shape(), 0.0F);
        add_rows(positions, position_table, learned_positions(inputs_, architecture_));
        watch_(-1, TensorId::position, positions);
        std::ranges::transform(x->values(), positions.values(), x->data(), std::plus<>());
    }
    if (architecture_.embedding_norm)
        return normed(cpu, *x, model_.weight(embedding_norm_weight), model_.weight(embedding_norm_bias));
    return x;
}

Mask ForwardPass::mask_of(std::int64_t l) const {
    Mask mask;
    const auto& window = architecture_.windows[static_cast<std::size_t>(l)];
    if (window && architecture_.causal)
        mask.emplace_back(SlidingWindowCausalMask{*window});
    else if (window)
        mask.emplace_back(SlidingWindowSymmetricMask{*window});
    else if (architecture_.causal)
        mask.emplace_back(CausalMask{});
    if (architecture_.alibi != Alibi::none)
        mask.emplace_back(AdditiveMask{alibi(architecture_, inputs_)});
    if (std::ranges::find(inputs_.attention_mask, 0) != inputs_.attention_mask.end())
        mask.emplace_back(KeyPaddingMask{
            std::make_shared<const BoolTensor>(BoolTensor{{inputs_.B, inputs_.T}, inputs_.attention_mask})});
    return mask;
}

Problem ForwardPass::problem_of(std::int64_t l, const WeightSet& weights, TensorPtr x) const {
    Problem problem;
    problem.dims = {.B = inputs_.B,
                    .Tq = rows(),
                    .Tk = inputs_.T,
                    .D = architecture_.D,
                    .Dkv = architecture_.D,
                    .H = architecture_.H,
                    .Hkv = architecture_.Hkv,
                    .dk = architecture_.dk,
                    .dv = architecture_.dk};
    problem.x = std::move(x);
    for (const TensorInfo& input : input_table())
        if (const std::optional<WeightId> weight = weight_of(input.id))
            *problem.input_slot(input.id) = weights[*weight];
    problem.norm_eps = static_cast<float>(architecture_.norm_eps);
    problem.qkv_limit = static_cast<float>(architecture_.qkv_limit);
    problem.score_cap = static_cast<float>(architecture_.score_cap);
    problem.mask = mask_of(l);
    problem.temperature = static_cast<float>(architecture_.temperature(l));
    if (inputs_.B == 1 && first_ == 0)
        problem.tokens = inputs_.tokens;
    if (const auto rope = architecture_.layer_rope[static_cast<std::size_t>(l)])
        problem.rotary = rotary_[*rope];
    return problem;
}

Problem ForwardPass::problem(cpu::CpuDense& cpu, std::int64_t l, const TensorPtr& hidden) const {
    const WeightSet w = model_.layer(l);
    return problem_of(
        l, w, norm1(cpu, hidden, w, architecture_.norms.before && (architecture_.norms.first || l > 0)));
}

TensorPtr ForwardPass::layer(cpu::CpuDense& cpu, std::int64_t l, const TensorPtr& x, const Attend& attend,
                             const Progress& cancel) const {
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
    const auto seen = [&](TensorId id, TensorPtr tensor) {
        watch_(l, id, *tensor);
        return tensor;
    };
    const NormPlaces& norms = architecture_.norms;
    const auto first_norm = [&](const TensorPtr& in, bool stands) {
        return stands ? seen(TensorId::norm1, norm1(cpu, in, w, true)) : in;
    };
    const auto second_norm = [&](const TensorPtr& in, bool stands) {
        return stands ? seen(TensorId::norm2, norm2(cpu, in, w, true)) : in;
    };
    const auto branch = [&](TensorId raw, TensorId out, WeightId after, const TensorPtr& from) {
        return seen(out, norms.after_branch ? normed(cpu, *seen(raw, from), w[after], nullptr) : from);
    };
    const auto mlp_of = [&](const Tensor& in) {
        const Note note = [&](TensorId id, const Tensor& tensor) { watch_(l, id, tensor); };
        return branch(TensorId::mlp_raw, TensorId::mlp_out, WeightId::norm2_after_weight,
                      architecture_.experts > 0 ? mixture(cpu, in, w, architecture_, note, cancel)
                                                : mlp(cpu, in, w, architecture_.activation, note, cancel));
    };
    const TensorPtr in = first_norm(seen(TensorId::resid_in, x), norms.before && (norms.first || l > 0));
    const TensorPtr attended =
        branch(TensorId::attn_raw, TensorId::attn_out, WeightId::norm1_after_weight, attention(in));
    if (architecture_.residual != Residual::serial) {
        const bool shared = architecture_.residual == Residual::parallel_one_norm;
        const TensorPtr inside = shared ? in : second_norm(x, norms.before);
        return seen(TensorId::resid_out, sum(cpu, *sum(cpu, *x, *attended), *mlp_of(*inside)));
    }
    const TensorPtr middle = first_norm(seen(TensorId::resid_mid, sum(cpu, *x, *attended)), norms.after_sum);
    const TensorPtr inside = second_norm(middle, norms.before);
    return second_norm(seen(TensorId::resid_out, sum(cpu, *middle, *mlp_of(*inside))), norms.after_sum);
}

void ForwardPass::run_layers(cpu::CpuDense& cpu, std::vector<TensorPtr>& hidden, const Attend& attend,
                             Progress& progress) const {
    const auto steps = static_cast<float>(architecture_.layers + 1);
    for (auto l = static_cast<std::int64_t>(hidden.size()) - 1; l < architecture_.layers; ++l) {
        progress.check();
        progress.set_part(static_cast<float>(l) / steps, static_cast<float>(l + 1) / steps);
        hidden.push_back(layer(cpu, l, hidden.back(), attend, progress));
        if (!finite(*hidden.back()))
            fail_input("the output of layer " + std::to_string(l) +
                       " leaves float32's range; check the weights and gains");
    }
    progress.set_part(0.0F, 1.0F);
    progress.report(static_cast<float>(architecture_.layers) / steps);
    if (!architecture_.final_norm)
        return;
    const TensorPtr ended = final_normed(cpu, *hidden.back());
    watch_(-1, TensorId::final_norm, *ended);
    if (!architecture_.final_norm_in_head)
        hidden.back() = ended;
}

TensorPtr ForwardPass::final_normed(cpu::CpuDense& cpu, const Tensor& x) const {
    return normed(cpu, x, model_.weight(WeightId::final_norm_weight),
                  model_.weight(WeightId::final_norm_bias));
}

TensorPtr ForwardPass::logits(cpu::CpuDense& cpu, const Tensor& hidden, const Progress& cancel) const {
    using enum WeightId;
    if (!model_.has_head())
        return nullptr;
    const TensorPtr ended = architecture_.final_norm_in_head ? final_normed(cpu, hidden) : nullptr;
    const Tensor& x = ended == nullptr ? hidden : *ended;
    const TensorPtr table = model_.weight(output_table), bias = model_.weight(output_bias);
    const TensorPtr dense = model_.weight(head_dense);
    const auto capped = [&](const MutableTensor& out) {
        const auto cap = static_cast<float>(architecture_.logit_cap);
        if (cap != 0.0F)
            std::ranges::transform(out->values(), out->data(),
                                   [cap](float logit) { return cap * std::tanh(logit / cap); });
        return out;
    };
    if (dense == nullptr)
        return capped(cpu.multiply_by_rows(x, *table, bias.get(), cancel));
    const MutableTensor inside = cpu.multiply(x, *dense, model_.weight(head_dense_bias).get(), cancel);
    activate(cpu, *inside, architecture_.head_activation, cancel);
    const TensorPtr ready =
        normed(cpu, *inside, model_.weight(head_norm_weight), model_.weight(head_norm_bias));
    return capped(cpu.multiply_by_rows(*ready, *table, bias.get(), cancel));
}

} // namespace headscope::checkpoint
