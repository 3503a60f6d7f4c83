#include "tests/core/checkpoint/families/same_architecture.h"

#include <algorithm>
#include <tuple>

namespace headscope::test {

using namespace headscope::checkpoint;

namespace {

bool same_rows(const std::vector<TensorName>& one, const std::vector<TensorName>& other) {
    return std::ranges::equal(one, other, [](const TensorName& a, const TensorName& b) {
        return std::tie(a.weight, a.name, a.layout, a.in, a.out, a.may_lack, a.layers, a.shared_by) ==
               std::tie(b.weight, b.name, b.layout, b.in, b.out, b.may_lack, b.layers, b.shared_by);
    });
}

bool same_names(const NameMap& one, const NameMap& other) {
    return same_rows(one.body, other.body) && same_rows(one.head, other.head) &&
           same_rows(one.cross, other.cross) && one.prefixes == other.prefixes &&
           one.not_needed == other.not_needed && one.twins == other.twins;
}

bool same_rope(const Rope& one, const Rope& other) {
    const auto fields = [](const Rope& rope) {
        const RopeScaling& s = rope.scaling;
        return std::tie(rope.theta, s.kind, s.factor, s.low_freq_factor, s.high_freq_factor,
                        s.original_max_positions, s.beta_fast, s.beta_slow, s.whole_pairs, s.attention_factor,
                        s.short_factors, s.long_factors);
    };
    return fields(one) == fields(other);
}

/// Returns all fields except names, angles and encoder.
auto numbers_of(const Architecture& a) {
    const LatentAttention latent = a.latent.value_or(LatentAttention());
    const DeltaLayers delta = a.delta.value_or(DeltaLayers());
    const RelativeAttention relative = a.relative.value_or(RelativeAttention());
    const StreamCopies copies = a.copies.value_or(StreamCopies{.count = 0});
    const DistanceBuckets buckets = a.buckets.value_or(DistanceBuckets{.count = 0});
    const auto sizes = std::make_tuple(
        a.family, a.dtype, a.start_id, a.layers, a.D, a.H, a.Hkv, a.dk, a.d_ff, a.vocab, a.max_positions,
        a.experts, a.mixtures, a.d_expert, a.d_shared, a.expert_gate_in, a.expert_input, a.route,
        a.position_rows, a.sinusoids, a.position_offset, a.position_count, a.pad_id, a.token_types,
        a.word_token_types, a.embedding_scale, a.embedding_norm, a.branch_scale, a.d_embed, a.map_before_norm,
        a.d_ffs, copies.count, copies.active, copies.scales_active, copies.laurel_rank, copies.layer_width,
        copies.layer_rows, copies.refuses_later_ids);
    const auto norms =
        std::make_tuple(a.norm, a.norm_eps, a.norms.before, a.norms.after_branch, a.norms.after_sum,
                        a.norms.first, a.final_norm, a.final_norm_in_head, a.residual);
    const auto attention =
        std::make_tuple(a.causal, a.windows, a.chunks, a.query_scale, a.qkv, a.qk_norm, a.qkv_limit,
                        a.score_scale, a.divide_by_layer, a.score_cap, a.alibi, buckets.count,
                        buckets.furthest, buckets.both_sides, a.rotary_width, a.rotary_pairs, a.layer_rope,
                        latent.query_rank, latent.rank, a.value_width, delta.H, delta.Hqk, delta.dk, delta.dv,
                        delta.kernel, a.delta_layers, relative.rows.span, relative.rows.buckets,
                        relative.rows.furthest, relative.c2p, relative.p2c, a.value_norm, a.key_layers);
    const auto rest = std::make_tuple(a.activation, a.gate, a.gate_cutoffs, a.expert_gate, a.head_activation,
                                      a.tied, a.head_scale, a.logit_cap, a.mask_token, a.end_tokens);
    return std::tuple_cat(sizes, norms, attention, rest);
}

} // namespace

bool same_architecture(const Architecture& one, const Architecture& other) {
    if (numbers_of(one) != numbers_of(other) || !same_names(one.names, other.names) ||
        !std::ranges::equal(one.ropes, other.ropes, same_rope) ||
        (one.encoder == nullptr) != (other.encoder == nullptr))
        return false;
    return one.encoder == nullptr ||
           same_architecture(*one.encoder_architecture, *other.encoder_architecture);
}

} // namespace headscope::test
