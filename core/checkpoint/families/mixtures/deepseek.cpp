#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <cmath>
#include <string>

namespace headscope::checkpoint {

namespace {

/// Differences between two families with latent attention.
struct DeepseekLike {
    const char* family;
    SizeDefaults defaults;
    std::int64_t Hkv;                         ///< where num_key_value_heads is missing; 0: H
    std::int64_t routed, shared, used, width; ///< of experts
    std::int64_t first_experts;               ///< the first layer with experts
    double factor;
    const char* scoring;
    const char* second_name = nullptr; ///< of the key n_routed_experts, which comes first
};

/// Names of latent attention in place of Llama's W_Q, W_K and W_V.
void name_latent(bool biased, Architecture& a) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    const auto bias = [&](TensorId id) { return biased ? std::optional(id) : std::nullopt; };
    const char* const queries =
        a.latent->query_rank > 0 ? "layers.{l}.self_attn.q_b_proj" : "layers.{l}.self_attn.q_proj";
    a.names.drop({W_Q, W_K, W_V, W_O, b_O});
    a.names.add({
        {queries, linear, E::Dq, E::H_dk, W_Q},
        {"layers.{l}.self_attn.kv_a_proj_with_mqa", linear, E::D, E::latent_down, W_DKV, bias(b_DKV)},
        {"layers.{l}.self_attn.kv_a_layernorm", vector, E::latent, E::none, kv_latent_norm},
        {"layers.{l}.self_attn.kv_b_proj", linear, E::latent, E::latent_up, W_UKV},
        {"layers.{l}.self_attn.o_proj", linear, E::H_dv, E::D, W_O, bias(b_O)},
    });
    if (a.latent->query_rank > 0)
        a.names.add({{"layers.{l}.self_attn.q_a_proj", linear, E::D, E::Dq, W_DQ, bias(b_DQ)},
                     {"layers.{l}.self_attn.q_a_layernorm", vector, E::Dq, E::none, q_latent_norm}});
}

/// Factor on the scores beside 1/sqrt(dk) where rotary positions are scaled, as Hugging Face applies it.
double score_magnitude(const ConfigReader& reader, double factor) {
    auto settings = reader.object("rope_scaling");
    if (!settings)
        settings = reader.object("rope_parameters");
    const double scale = settings ? settings->number("mscale_all_dim").value_or(0.0) : 0.0;
    return scale == 0.0 || factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0;
}

Architecture read_deepseek_like(const ConfigReader& reader, const DeepseekLike& family) {
    const bool biased = reader.flag("attention_bias", false);
    // Rotary positions are read for the part of a head that turns.
    Architecture a = read_llama_like(reader, {.family = family.family,
                                              .defaults = family.defaults,
                                              .Hkv = family.Hkv,
                                              .rope = {.whole = true},
                                              .head_dim = "qk_rope_head_dim"});
    if (a.Hkv != a.H)
        reader.refuse("num_key_value_heads", tr("deepseek.as_many_key_heads",
                                                "num_attention_heads = {}, as every head has its own", a.H));
    const std::int64_t still = reader.size("qk_nope_head_dim", 128);
    a.dk = a.rotary_width + still;
    if (a.dk % 2 != 0)
        reader.refuse("qk_nope_head_dim",
                      tr("deepseek.even_width", "even, for the rotary position embedding"));
    a.latent = {.query_rank = reader.says_null("q_lora_rank") ? 0 : reader.size("q_lora_rank", 1536),
                .rank = reader.size("kv_lora_rank", 512)};
    a.value_width = reader.size("v_head_dim", 128);
    const RopeScaling& scaling = a.ropes.front().scaling;
    const double magnitude =
        scaling.kind == RopeScaling::Kind::none ? 1.0 : score_magnitude(reader, scaling.factor);
    if (magnitude != 1.0)
        a.score_scale = magnitude * magnitude / std::sqrt(static_cast<double>(a.dk));
    name_latent(biased, a);

    a.experts = reader.size("n_routed_experts", family.routed);
    if (family.second_name != nullptr)
        a.experts = reader.size(family.second_name, a.experts);
    const std::int64_t first = reader.integer("first_k_dense_replace", 0).value_or(family.first_experts);
    for (std::int64_t l = 0; l < a.layers; ++l)
        a.mixtures.push_back(l >= first);
    if (reader.text("scoring_func", family.scoring) != family.scoring)
        reader.refuse("scoring_func", family.scoring);
    if (reader.size("moe_layer_freq", 1) != 1)
        reader.refuse("moe_layer_freq", "1");
    a.d_expert = reader.size("moe_intermediate_size", family.width);
    a.route.used = used_experts(reader, "num_experts_per_tok", family.used, a.experts);
    a.route.factor = reader.positive("routed_scaling_factor", family.factor);
    if (!reader.says_null("n_shared_experts"))
        a.d_shared = a.d_expert * reader.size("n_shared_experts", family.shared);
    set_mixture({.router = "mlp.gate.weight",
                 .gate = "mlp.experts.{e}.gate_proj.weight",
                 .in = "mlp.experts.{e}.up_proj.weight",
                 .out = "mlp.experts.{e}.down_proj.weight",
                 .shared = "mlp.shared_experts"},
                a);
    return a;
}

/// Groups of experts, of which those of some can be chosen.
void read_groups(const ConfigReader& reader, std::int64_t usual, std::int64_t usual_used, Architecture& a) {
    a.route.groups = reader.size("n_group", usual);
    a.route.used_groups = reader.size("topk_group", usual_used);
    if (a.experts % a.route.groups != 0)
        reader.refuse("n_group",
                      tr("deepseek.divides_experts", "a divisor of n_routed_experts = {}", a.experts));
    if (a.route.used_groups > a.route.groups)
        reader.refuse("topk_group", tr("deepseek.most_groups", "at most n_group = {}", a.route.groups));
    if (a.route.used > a.experts / a.route.groups * a.route.used_groups)
        reader.refuse("num_experts_per_tok",
                      tr("deepseek.most_of_groups", "at most the experts of {} groups, {}",
                         a.route.used_groups, a.experts / a.route.groups * a.route.used_groups));
}

} // namespace

/// Llama with latent attention and a mixture in all but the first layers (DeepSeek-AI 2024, "DeepSeek-V2").
Architecture read_deepseek_v2(const ConfigReader& reader) {
    Architecture a =
        read_deepseek_like(reader, {.family = "deepseek_v2",
                                    .defaults = {.layers = 32,
                                                 .D = 4096,
                                                 .H = 32,
                                                 .d_ff = 11008,
                                                 .vocab = 32000,
                                                 .max_positions = 2048,
                                                 .head_dim = 64,
                                                 .norm_eps = 1e-6,
                                                 .activation = "silu",
                                                 .tied = false},
                                    .Hkv = 0,
                                    .routed = 64,
                                    .shared = 2,
                                    .used = 6, // as DeepSeek-V2-Lite: the class has no number of its own
                                    .width = 1407,
                                    .first_experts = 0,
                                    .factor = 1.0,
                                    .scoring = "softmax"});
    if (reader.flag("mlp_bias", false))
        reader.refuse("mlp_bias", tr("deepseek.false_mlp_bias", "false"));
    a.rotary_pairs = RotaryPairs::neighbours;
    a.route.score = graph::Route::Score::softmax;
    const std::string method = reader.text("topk_method", "greedy");
    if (method == "group_limited_greedy")
        read_groups(reader, 1, 1, a);
    else if (method != "greedy")
        reader.refuse("topk_method", tr("deepseek.greedy_or_groups", "greedy or group_limited_greedy"));
    return a;
}

/// The same with scores of experts by a sigmoid, and a bias for the choice alone (DeepSeek-AI 2024,
/// "DeepSeek-V3").
Architecture read_deepseek_v3(const ConfigReader& reader) {
    Architecture a = read_deepseek_like(reader, {.family = "deepseek_v3",
                                                 .defaults = {.layers = 61,
                                                              .D = 7168,
                                                              .H = 128,
                                                              .d_ff = 18432,
                                                              .vocab = 129280,
                                                              .max_positions = 4096,
                                                              .head_dim = 64,
                                                              .norm_eps = 1e-6,
                                                              .activation = "silu",
                                                              .tied = false},
                                                 .Hkv = 128,
                                                 .routed = 256,
                                                 .shared = 1,
                                                 .used = 8,
                                                 .width = 2048,
                                                 .first_experts = 3,
                                                 .factor = 2.5,
                                                 .scoring = "sigmoid",
                                                 .second_name = "num_local_experts"});
    if (reader.flag("rope_interleave", true))
        a.rotary_pairs = RotaryPairs::neighbours;
    if (const std::string method = reader.text("topk_method", "noaux_tc"); method != "noaux_tc")
        reader.refuse("topk_method", "noaux_tc");
    a.route.score = graph::Route::Score::sigmoid;
    a.route.sum_to_one = reader.flag("norm_topk_prob", true);
    a.route.best_of_group = 2;
    read_groups(reader, 8, 4, a);
    const TensorName choice_bias{.weight = TensorId::router_choice_bias,
                                 .name = "layers.{l}.mlp.gate.e_score_correction_bias",
                                 .layout = Layout::vector,
                                 .in = Extent::experts,
                                 .out = Extent::none,
                                 .layers = InLayers::mixtures};
    a.names.body.push_back(choice_bias);
    // A layer more, which predicts one token further and is not run.
    const std::int64_t further = reader.integer("num_nextn_predict_layers", 0).value_or(1);
    for (std::int64_t l = a.layers; l < a.layers + further; ++l)
        a.names.not_needed.push_back("layers." + std::to_string(l) + ".");
    return a;
}

} // namespace headscope::checkpoint
