#include "core/checkpoint/checks/settings_difference.h"

#include "core/checkpoint/architecture/architecture.h"

#include <algorithm>
#include <tuple>

namespace headscope::checkpoint {

namespace {

auto settings_of(const RopeScaling& of) {
    return std::tie(of.kind, of.factor, of.low_freq_factor, of.high_freq_factor, of.original_max_positions,
                    of.beta_fast, of.beta_slow, of.whole_pairs, of.attention_factor, of.short_factors,
                    of.long_factors);
}

bool same_ropes(const Architecture& a, const Architecture& b) {
    return std::ranges::equal(a.ropes, b.ropes, [](const Rope& from, const Rope& to) {
        return from.theta == to.theta && settings_of(from.scaling) == settings_of(to.scaling);
    });
}

/// The positions that a model was made for matter only where frequencies depend on them.
bool same_positions(const Architecture& a, const Architecture& b) {
    const bool matter = std::ranges::any_of(
        a.ropes, [](const Rope& rope) { return rope.scaling.kind == RopeScaling::Kind::dynamic; });
    return !matter || a.max_positions == b.max_positions;
}

auto settings_of(const NormPlaces& of) {
    return std::tie(of.before, of.after_branch, of.after_sum, of.first);
}

bool same_latent(const Architecture& a, const Architecture& b) {
    if (!a.latent || !b.latent)
        return a.latent.has_value() == b.latent.has_value();
    return std::tie(a.latent->query_rank, a.latent->rank, a.value_width, a.latent->norm_eps) ==
           std::tie(b.latent->query_rank, b.latent->rank, b.value_width, b.latent->norm_eps);
}

bool same_delta(const Architecture& a, const Architecture& b) {
    if (!a.delta || !b.delta)
        return a.delta.has_value() == b.delta.has_value();
    const auto settings = [](const DeltaLayers& of) {
        return std::tie(of.H, of.Hqk, of.dk, of.dv, of.kernel);
    };
    return settings(*a.delta) == settings(*b.delta) && a.delta_layers == b.delta_layers;
}

bool same_buckets(const Architecture& a, const Architecture& b) {
    if (!a.buckets || !b.buckets)
        return a.buckets.has_value() == b.buckets.has_value();
    const auto settings = [](const DistanceBuckets& of) {
        return std::tie(of.count, of.furthest, of.both_sides);
    };
    return settings(*a.buckets) == settings(*b.buckets);
}

bool same_relative(const Architecture& a, const Architecture& b) {
    if (!a.relative || !b.relative)
        return a.relative.has_value() == b.relative.has_value();
    const auto settings = [](const RelativeAttention& of) {
        return std::tie(of.rows.span, of.rows.buckets, of.rows.furthest, of.c2p, of.p2c);
    };
    return settings(*a.relative) == settings(*b.relative);
}

bool same_copies(const Architecture& a, const Architecture& b) {
    if (!a.copies || !b.copies)
        return a.copies.has_value() == b.copies.has_value();
    const auto settings = [](const StreamCopies& of) {
        return std::tie(of.count, of.active, of.scales_active, of.laurel_rank, of.layer_width, of.layer_rows,
                        of.refuses_later_ids);
    };
    return settings(*a.copies) == settings(*b.copies);
}

std::vector<std::string> settings_apart(const Architecture& a, const Architecture& b) {
    std::vector<std::string> found;
    const auto check = [&](const char* name, bool same) {
        if (!same)
            found.emplace_back(name);
    };
    check("model_type", a.family == b.family);
    check("embedding scale", a.embedding_scale == b.embedding_scale);
    check("embedding norm", std::tie(a.embedding_norm, a.d_embed, a.map_before_norm) ==
                                std::tie(b.embedding_norm, b.d_embed, b.map_before_norm));
    check("positions", std::tie(a.position_rows, a.sinusoids, a.position_offset, a.position_count, a.pad_id,
                                a.token_types, a.word_token_types) ==
                               std::tie(b.position_rows, b.sinusoids, b.position_offset, b.position_count,
                                        b.pad_id, b.token_types, b.word_token_types) &&
                           same_positions(a, b));
    check("norm", std::tie(a.norm, a.final_norm, a.final_norm_in_head) ==
                          std::tie(b.norm, b.final_norm, b.final_norm_in_head) &&
                      settings_of(a.norms) == settings_of(b.norms));
    check("norm_eps", a.norm_eps == b.norm_eps);
    check("residual stream",
          a.residual == b.residual && a.branch_scale == b.branch_scale && same_copies(a, b));
    check("causal mask", a.causal == b.causal);
    check("attention windows", a.windows == b.windows && a.chunks == b.chunks);
    check("latent attention", same_latent(a, b));
    check("delta layers", same_delta(a, b));
    check("norms of queries and keys",
          std::tie(a.qk_norm, a.qkv_limit, a.value_norm) == std::tie(b.qk_norm, b.qkv_limit, b.value_norm));
    check("shared keys and values", a.key_layers == b.key_layers);
    check("scale of the scores", std::tie(a.score_scale, a.divide_by_layer, a.score_cap, a.query_scale) ==
                                     std::tie(b.score_scale, b.divide_by_layer, b.score_cap, b.query_scale));
    check("position biases", a.alibi == b.alibi && same_buckets(a, b));
    check("relative positions", same_relative(a, b));
    check("rope theta", std::tie(a.rotary_width, a.rotary_pairs, a.layer_rope) ==
                                std::tie(b.rotary_width, b.rotary_pairs, b.layer_rope) &&
                            same_ropes(a, b));
    check("activation", std::tie(a.activation, a.head_activation, a.gate_cutoffs) ==
                            std::tie(b.activation, b.head_activation, b.gate_cutoffs));
    check("experts", a.experts == b.experts && a.mixtures == b.mixtures && a.route == b.route &&
                         a.expert_gate == b.expert_gate && a.expert_input == b.expert_input);
    check("tied word table", !a.tied || b.tied);
    check("scale of the logits", std::tie(a.head_scale, a.logit_cap) == std::tie(b.head_scale, b.logit_cap));
    check("encoder", (a.encoder == nullptr) == (b.encoder == nullptr));
    if (a.encoder != nullptr && b.encoder != nullptr)
        for (const std::string& name : settings_apart(*a.encoder_architecture, *b.encoder_architecture))
            found.push_back("encoder " + name);
    return found;
}

} // namespace

std::vector<std::string> differing_settings(const Model& a, const Model& b) {
    return settings_apart(a.architecture(), b.architecture());
}

} // namespace headscope::checkpoint
