#include "core/checkpoint/run/forward_pass.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/layers.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/rope.h"
#include "core/checkpoint/model/score_bias.h"

#include <algorithm>
#include <cmath>

namespace headscope::checkpoint {

namespace {

bool finite(const Tensor& x) {
    return std::ranges::all_of(x.values(), [](float v) { return std::isfinite(v); });
}

} // namespace

ForwardPass::ForwardPass(const Model& model, const ModelInputs& inputs, const ModelEdits& edits,
                         std::int64_t first)
    : model_(model), architecture_(model.architecture()), inputs_(inputs), edits_(edits), first_(first) {
    check_inputs(inputs, architecture_);
    model.require_runnable();
    for (const Rope& rope : architecture_.ropes)
        rotary_.push_back(rotary_tables(architecture_, rope, inputs.T, first));
    if (architecture_.alibi != Alibi::none)
        additive_ = alibi(architecture_, inputs);
    else if (architecture_.buckets)
        additive_ =
            distance_bias(*architecture_.buckets, *model.weight(WeightId::bucket_table), inputs.T, first);
}

WeightSet ForwardPass::layer(std::int64_t n) const {
    return with_edits(model_.layer(n), edits_of(edits_, n));
}

ForwardPass ForwardPass::encoder() const {
    ForwardPass of_encoder(*model_.encoder(), inputs_.source.front(), edits_);
    of_encoder.stack_ = Stack::encoder;
    of_encoder.watch_ = watch_;
    return of_encoder;
}

AttentionPlace ForwardPass::place_of(std::int64_t n) const {
    const AttentionPlace place = attention_place(architecture_, n);
    return stack_ == Stack::encoder ? AttentionPlace{Stack::encoder, place.layer} : place;
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
    const EditedTable numbers(model_, edits_, table);
    const std::int64_t D = architecture_.D;
    for (std::int64_t n = 0; n < inputs_.B * rows(); ++n) {
        const std::int64_t token = n / rows() * inputs_.T + first_ + n % rows();
        float* const to = x.data() + n * D;
        std::ranges::transform(std::span(to, static_cast<std::size_t>(D)),
                               numbers.row(of_tokens[static_cast<std::size_t>(token)]), to, std::plus<>());
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
    saw({stack_, -1}, TensorId::embedding, *x);
    if (architecture_.position_rows > 0) {
        Tensor positions(x->shape(), 0.0F);
        add_rows(positions, position_table, learned_positions(inputs_, architecture_));
        saw({stack_, -1}, TensorId::position, positions);
        std::ranges::transform(x->values(), positions.values(), x->data(), std::plus<>());
    }
    if (architecture_.embedding_norm)
        return normed(cpu, *x, model_.weight(embedding_norm_weight), model_.weight(embedding_norm_bias));
    return x;
}

Mask ForwardPass::mask_of(AttentionPlace place) const {
    Mask mask;
    const bool cross = place.stack == Stack::cross;
    const ModelInputs& read = cross ? inputs_.source.front() : inputs_;
    if (!cross) {
        const auto& window = architecture_.windows[static_cast<std::size_t>(place.layer)];
        if (window && architecture_.causal)
            mask.emplace_back(SlidingWindowCausalMask{*window});
        else if (window)
            mask.emplace_back(SlidingWindowSymmetricMask{*window});
        else if (architecture_.causal)
            mask.emplace_back(CausalMask{});
        if (additive_ != nullptr)
            mask.emplace_back(AdditiveMask{additive_});
    }
    if (std::ranges::find(read.attention_mask, 0) != read.attention_mask.end())
        mask.emplace_back(KeyPaddingMask{
            std::make_shared<const BoolTensor>(BoolTensor{{read.B, read.T}, read.attention_mask})});
    return mask;
}

Problem ForwardPass::problem_of(std::int64_t n, const WeightSet& weights, TensorPtr x,
                                const TensorPtr& source) const {
    const AttentionPlace place = place_of(n);
    const bool cross = place.stack == Stack::cross;
    Problem problem;
    problem.dims = {.B = inputs_.B,
                    .Tq = rows(),
                    .Tk = cross ? source->shape()[1] : inputs_.T,
                    .D = architecture_.D,
                    .Dkv = cross ? source->shape()[2] : architecture_.D,
                    .H = architecture_.H,
                    .Hkv = architecture_.Hkv,
                    .dk = architecture_.dk,
                    .dv = architecture_.dk,
                    .d_ff = architecture_.d_ff,
                    .vocab = architecture_.vocab,
                    .positions = architecture_.position_rows,
                    .token_types = architecture_.token_types,
                    .experts = architecture_.experts};
    problem.x = std::move(x);
    for (const TensorInfo& input : input_table())
        if (const std::optional<WeightId> weight = weight_of(input.id))
            *problem.input_slot(input.id) = weights[*weight];
    problem.norm_eps = static_cast<float>(architecture_.norm_eps);
    problem.qkv_limit = static_cast<float>(architecture_.qkv_limit);
    problem.score_cap = static_cast<float>(architecture_.score_cap);
    problem.mask = mask_of(place);
    problem.temperature = static_cast<float>(architecture_.temperature(place.layer));
    if (inputs_.B == 1 && first_ == 0)
        problem.tokens = inputs_.tokens;
    if (cross) {
        problem.x_kv = source;
        if (inputs_.B == 1)
            problem.kv_tokens = inputs_.source.front().tokens;
    } else if (const auto rope = architecture_.layer_rope[static_cast<std::size_t>(place.layer)]) {
        problem.rotary = rotary_[*rope];
    }
    return problem;
}

TensorPtr ForwardPass::patched(std::int64_t n, TensorId id, TensorPtr tensor) const {
    const LayerEdits* const edits = edits_of(edits_, n);
    if (edits == nullptr ||
        std::ranges::none_of(edits->patched, [&](const PatchedRows& rows) { return rows.at == id; }))
        return tensor;
    auto out = std::make_shared<Tensor>(tensor->shape(), tensor->values());
    patch(n, id, *out);
    return out;
}

void ForwardPass::patch(std::int64_t n, TensorId id, Tensor& tensor) const {
    const LayerEdits* const edits = edits_of(edits_, n);
    if (edits == nullptr)
        return;
    const std::int64_t width = tensor.shape().back(0);
    for (const PatchedRows& rows : edits->patched) {
        if (rows.at != id)
            continue;
        const std::int64_t count = rows.rows->shape()[1];
        const std::int64_t end = std::min(rows.first + rows.rows->shape()[0], inputs_.T);
        for (std::int64_t token = std::max(rows.first, first_); token < end; ++token) {
            const float* const from = rows.rows->data() + (token - rows.first) * count;
            float* const to = tensor.data() + (token - first_) * width + rows.column;
            if (rows.added)
                std::transform(from, from + count, to, to, std::plus<>());
            else
                std::copy(from, from + count, to);
        }
    }
}

bool ForwardPass::has_first_norm(std::int64_t n) const {
    return architecture_.norms.before && (architecture_.norms.first || place_of(n).layer > 0);
}

Problem ForwardPass::problem(cpu::CpuDense& cpu, std::int64_t n, const Streams& streams) const {
    const std::int64_t before = attention_number(architecture_, {Stack::own, 0});
    if (n < before)
        return encoder().problem(cpu, n, {{}, streams.encoder});
    return problem_of(n, model_.layer(n),
                      norm1(cpu,
                            patched(n, TensorId::resid_in, streams.own[static_cast<std::size_t>(n - before)]),
                            layer(n), has_first_norm(n)),
                      streams.encoder.empty() ? nullptr : streams.encoder.back());
}

TensorPtr ForwardPass::step(cpu::CpuDense& cpu, std::int64_t n, const TensorPtr& stream,
                            const TensorPtr& source, const Attend& attend, const Progress& cancel) const {
    const WeightSet w = layer(n);
    const AttentionPlace place = place_of(n);
    const auto attention = [&](const TensorPtr& in) {
        try {
            Problem problem = problem_of(n, w, in, source);
            if (const LayerEdits* const edits = edits_of(edits_, n))
                problem.gains = edits->gains;
            return attend(n, std::move(problem));
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::input)
                throw;
            fail_input(words_of(n) + ": " + fault.what());
        }
    };
    const auto seen = [&](TensorId id, TensorPtr tensor) {
        tensor = patched(n, id, std::move(tensor));
        saw(place, id, *tensor);
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
        const LayerEdits* const edited = edits_of(edits_, n);
        Note note;
        if (watch_ || (edited != nullptr && !edited->patched.empty()))
            note = [&](TensorId id, Tensor& tensor) {
                patch(n, id, tensor);
                saw(place, id, tensor);
            };
        return branch(TensorId::mlp_raw, TensorId::mlp_out, WeightId::norm2_after_weight,
                      architecture_.experts > 0 ? mixture(cpu, in, w, architecture_, note, cancel)
                                                : mlp(cpu, in, w, architecture_.activation, note, cancel));
    };
    const TensorPtr x = seen(TensorId::resid_in, stream);
    const TensorPtr in = first_norm(x, has_first_norm(n));
    const TensorPtr raw = attention(in);
    if (raw == nullptr)
        return nullptr;
    const TensorPtr attended =
        branch(TensorId::attn_raw, TensorId::attn_out, WeightId::norm1_after_weight, raw);
    if (architecture_.residual != Residual::serial) {
        const bool shared = architecture_.residual == Residual::parallel_one_norm;
        const TensorPtr inside = shared ? in : second_norm(x, norms.before);
        return seen(TensorId::resid_out, sum(cpu, *sum(cpu, *x, *attended), *mlp_of(*inside)));
    }
    const TensorPtr middle = first_norm(seen(TensorId::resid_mid, sum(cpu, *x, *attended)), norms.after_sum);
    if (architecture_.encoder != nullptr && place.stack == Stack::own)
        return middle; // the cross-attention comes before the MLP
    const TensorPtr inside = second_norm(middle, norms.before);
    return second_norm(seen(TensorId::resid_out, sum(cpu, *middle, *mlp_of(*inside))), norms.after_sum);
}

void ForwardPass::run(cpu::CpuDense& cpu, Streams& streams, const Attend& attend, Progress& progress) const {
    const std::int64_t before = attention_number(architecture_, {Stack::own, 0});
    const float share = static_cast<float>(before) / static_cast<float>(attention_count(architecture_) + 1);
    if (before > 0 && std::ssize(streams.encoder) <= before) {
        if (!encoder().run_stack(cpu, streams.encoder, nullptr, attend, progress, {0.0F, share}))
            return;
    }
    run_stack(cpu, streams.own, before > 0 ? streams.encoder.back() : nullptr, attend, progress,
              {share, 1.0F});
}

bool ForwardPass::run_stack(cpu::CpuDense& cpu, std::vector<TensorPtr>& streams, const TensorPtr& source,
                            const Attend& attend, Progress& progress, Part part) const {
    const std::int64_t before = attention_number(architecture_, {Stack::own, 0});
    const std::int64_t steps = attention_count(architecture_) - before;
    const auto at = [&](std::int64_t step) {
        return part.begin +
               (part.end - part.begin) * static_cast<float>(step) / static_cast<float>(steps + 1);
    };
    if (std::ssize(streams) > steps)
        return true;
    // What a step makes and holds: a stream, and queries, keys, values and their sum, or two tensors in the
    // MLP.
    const std::int64_t widest = architecture_.D + std::max(4 * architecture_.D, 2 * architecture_.d_ff);
    const auto step_bytes = sizeof(float) * static_cast<std::uint64_t>(inputs_.B * rows() * widest);
    if (streams.empty())
        streams.push_back(embed(cpu));
    for (auto s = std::ssize(streams) - 1; s < steps; ++s) {
        progress.check();
        progress.set_part(at(s), at(s + 1));
        require_memory(step_bytes, words_of(before + s),
                       tr("common.take_shorter_text", "take a shorter text"));
        TensorPtr next = step(cpu, before + s, streams.back(), source, attend, progress);
        if (next == nullptr)
            return false;
        streams.push_back(std::move(next));
        if (!finite(*streams.back()))
            fail_input(tr("forward_pass.output_leaves_float32s",
                          "the output of {} leaves float32's range; check the weights and head gains",
                          words_of(before + s)));
    }
    progress.set_part(0.0F, 1.0F);
    progress.report(at(steps));
    if (!architecture_.final_norm)
        return true;
    const TensorPtr ended = final_normed(cpu, *streams.back());
    saw({stack_, -1}, TensorId::final_norm, *ended);
    if (!architecture_.final_norm_in_head)
        streams.back() = ended;
    return true;
}

std::string ForwardPass::words_of(std::int64_t n) const {
    const AttentionPlace place = place_of(n);
    return stack_ == Stack::encoder ? tr("common.layer_encoder", "layer {} of the encoder", place.layer)
                                    : attention_words(architecture_, place);
}

std::vector<TensorPtr> hidden_states(const std::vector<TensorPtr>& streams, std::int64_t per_layer) {
    std::vector<TensorPtr> hidden;
    for (std::size_t s = 0; s < streams.size(); s += static_cast<std::size_t>(per_layer))
        hidden.push_back(streams[s]);
    return hidden;
}

WeightSet ForwardPass::final_norm_weights() const {
    WeightSet last;
    for (const WeightId id : {WeightId::final_norm_weight, WeightId::final_norm_bias})
        last[id] = edited_end_weight(model_, edits_, id);
    return last;
}

TensorPtr ForwardPass::final_normed(cpu::CpuDense& cpu, const Tensor& x) const {
    const WeightSet last = final_norm_weights();
    return normed(cpu, x, last[WeightId::final_norm_weight], last[WeightId::final_norm_bias]);
}

TensorPtr ForwardPass::head_input(cpu::CpuDense& cpu, const Tensor& hidden, const Progress& cancel) const {
    using enum WeightId;
    if (!model_.has_head())
        return nullptr;
    TensorPtr ended = architecture_.final_norm_in_head
                          ? final_normed(cpu, hidden)
                          : std::make_shared<const Tensor>(hidden.shape(), hidden.values());
    if (architecture_.head_scale != 1.0) {
        const auto factor = static_cast<float>(architecture_.head_scale);
        const MutableTensor scaled = cpu.make(hidden.shape());
        std::ranges::transform(ended->values(), scaled->data(),
                               [factor](float number) { return factor * number; });
        ended = scaled;
    }
    const TensorPtr dense = model_.weight(head_dense);
    if (dense == nullptr)
        return ended;
    const MutableTensor inside = cpu.multiply(*ended, *dense, model_.weight(head_dense_bias).get(), cancel);
    activate(cpu, *inside, architecture_.head_activation, cancel);
    return normed(cpu, *inside, model_.weight(head_norm_weight), model_.weight(head_norm_bias));
}

TensorPtr ForwardPass::logits_of(cpu::CpuDense& cpu, const Tensor& head_in, const Progress& cancel) const {
    const MutableTensor out =
        EditedTable(model_, edits_, WeightId::output_table)
            .multiply(cpu, head_in, edited_end_weight(model_, edits_, WeightId::output_bias).get(), cancel);
    const auto cap = static_cast<float>(architecture_.logit_cap);
    if (cap != 0.0F)
        std::ranges::transform(out->values(), out->data(),
                               [cap](float logit) { return cap * std::tanh(logit / cap); });
    return out;
}

TensorPtr ForwardPass::logits(cpu::CpuDense& cpu, const Tensor& hidden, const Progress& cancel) const {
    const TensorPtr head_in = head_input(cpu, hidden, cancel);
    return head_in == nullptr ? nullptr : logits_of(cpu, *head_in, cancel);
}

} // namespace headscope::checkpoint
