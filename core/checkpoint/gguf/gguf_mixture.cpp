#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/gguf/gguf_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

/// Extent `axis` of the first tensor whose name ends so; 0 where there is none.
std::int64_t extent_in(const GgufFile& file, std::string_view ending, std::size_t axis) {
    const auto& entries = file.entries();
    const auto found =
        std::ranges::find_if(entries, [&](const GgufEntry& entry) { return entry.name.ends_with(ending); });
    return found == entries.end() || found->extents.size() <= axis ? 0 : found->extents[axis];
}

/// A size that a key gives, or a tensor where older files lack the key.
std::int64_t width_of(GgufKeys& keys, std::string_view suffix, std::string_view tensor, std::size_t axis) {
    const std::string key = keys.key(suffix);
    const std::int64_t width = keys.reader().integer(key, 0).value_or(extent_in(keys.file(), tensor, axis));
    if (width < 1)
        keys.reader().refuse(key, tr("common.number_above_0", "a number above 0"));
    return width;
}

/// The values of expert_gating_func that the program computes.
constexpr std::int64_t softmax_gate = 1, sigmoid_gate = 2;

void read_deepseek_route(GgufKeys& keys, json& config) {
    const ConfigReader& reader = keys.reader();
    const std::string gating = keys.key("expert_gating_func");
    const std::int64_t function = reader.integer(gating, 0).value_or(softmax_gate);
    if (function != softmax_gate && function != sigmoid_gate)
        reader.refuse(gating, tr("gguf_mixture.gating", "1 (softmax) or 2 (sigmoid)"));
    const bool v3 = function == sigmoid_gate;
    const std::string norm = keys.key("expert_weights_norm");
    const bool sum_to_one = reader.flag(norm).value_or(false);
    if (sum_to_one && !v3)
        reader.refuse(norm, tr("gguf_mixture.false_softmax", "false beside a softmax over the experts"));
    // Files made before 2026 do not have these keys: the two published models with groups are known by their
    // experts.
    const std::int64_t experts = config["n_routed_experts"];
    const bool published = v3 ? experts == 256 : experts == 160;
    const std::int64_t groups = reader.integer(keys.key("expert_group_count"), 1).value_or(published ? 8 : 1);
    const std::int64_t used_groups = reader.integer(keys.key("expert_group_used_count"), 1)
                                         .value_or(!published ? groups
                                                   : v3       ? 4
                                                              : 3);
    config.update(
        {{"model_type", v3 ? "deepseek_v3" : "deepseek_v2"},
         {"norm_topk_prob", sum_to_one},
         {"n_group", groups},
         {"topk_group", used_groups},
         {"num_nextn_predict_layers", 0},
         {"routed_scaling_factor", keys.positive("expert_weights_scale", 1.0)},
         {"first_k_dense_replace", reader.integer(keys.key("leading_dense_block_count"), 0).value_or(0)}});
    if (!v3 && groups > 1)
        config["topk_method"] = "group_limited_greedy";
    const std::int64_t shared = reader.integer(keys.key("expert_shared_count"), 0).value_or(0);
    config["n_shared_experts"] = shared == 0 ? json(nullptr) : json(shared);
}

/// Sets the values that files have no keys for, because llama.cpp fixes them: the kinds of layers,
/// and the scale of the queries.
void read_llama4(GgufKeys& keys, std::int64_t experts, json& config) {
    const ConfigReader& reader = keys.reader();
    keys.key("expert_feed_forward_length"); // files of models without experts have it too
    constexpr std::int64_t usual_chunk = 8192, without_norms = 128;
    const std::int64_t layers = config["num_hidden_layers"],
                       step = reader.integer(keys.key("interleave_moe_layer_step"), 0).value_or(1);
    json mixtures = json::array();
    for (std::int64_t l = step - 1; experts > 0 && step > 0 && l < layers; l += step)
        mixtures.push_back(l);
    config.update({{"intermediate_size_mlp", config["intermediate_size"]},
                   {"moe_layers", mixtures},
                   {"use_qk_norm", experts != without_norms}});
    // 0: every layer rotates queries and keys and attends to the whole text.
    const std::int64_t chunk = reader.integer(keys.key("attention.sliding_window"), 0).value_or(usual_chunk);
    config["attn_temperature_tuning"] = chunk != 0;
    config["attention_chunk_size"] = chunk == 0 ? json(nullptr) : json(chunk);
    if (chunk == 0)
        config["no_rope_layers"] = json(std::vector<int>(static_cast<std::size_t>(layers), 1));
}

} // namespace

void read_gguf_mixture(GgufKeys& keys, json& config) {
    const ConfigReader& reader = keys.reader();
    const std::int64_t experts =
        keys.row().mixture ? reader.integer(keys.key("expert_count"), 0).value_or(0) : 0;
    if (keys.is("llama4"))
        read_llama4(keys, experts, config);
    if (experts == 0) {
        const std::string none =
            tr("gguf_config.0_mixture_experts_not", "0: a mixture of experts is not computed here");
        keys.expect("expert_count", 0, none);
        keys.expect("expert_used_count", 0, none);
        if (keys.row().mixture && !keys.is("llama") && !keys.is("llama4"))
            reader.refuse(keys.key("expert_count"), tr("common.number_above_0", "a number above 0"));
        return;
    }
    config.update({{"num_local_experts", experts},
                   {"num_experts", experts},
                   {"n_routed_experts", experts},
                   {"num_experts_per_tok", reader.needed_integer(keys.key("expert_used_count"), 1)}});
    if (keys.is("deepseek2")) {
        read_deepseek_route(keys, config);
    } else if (keys.is("llama4")) {
        keys.expect("expert_gating_func", sigmoid_gate, tr("gguf_mixture.sigmoid", "2 (sigmoid)"));
        keys.expect("expert_shared_count", 1, "1");
    } else {
        keys.expect("expert_gating_func", softmax_gate, tr("gguf_mixture.softmax", "1 (softmax)"));
        if (const double scale = keys.positive("expert_weights_scale", 1.0); scale != 1.0)
            reader.refuse(keys.key("expert_weights_scale"), "1");
        // The families differ in whether the fractions of the chosen experts add up to 1.
        const bool usual = keys.is("qwen3moe") || keys.is("qwen3vlmoe");
        const std::string norm = keys.key("expert_weights_norm");
        const bool free = usual || keys.is("qwen2moe") || keys.is("olmoe");
        if (!free && reader.has(norm) && !reader.flag(norm, true))
            reader.refuse(norm, "true");
        config["norm_topk_prob"] = reader.flag(norm).value_or(usual);
    }
    if (keys.is("llama"))
        config["model_type"] = "mixtral";
    const bool own_width =
        keys.is("deepseek2") || keys.is("qwen2moe") || keys.is("qwen3moe") || keys.is("qwen3vlmoe");
    if (own_width)
        config["moe_intermediate_size"] =
            width_of(keys, "expert_feed_forward_length", ".ffn_up_exps.weight", 1);
    else if (const auto width = reader.integer(keys.key("expert_feed_forward_length"), 1))
        config["intermediate_size"] = *width;
    if (keys.is("qwen2moe"))
        config["shared_expert_intermediate_size"] =
            width_of(keys, "expert_shared_feed_forward_length", ".ffn_up_shexp.weight", 0);
}

std::int64_t read_gguf_latent(GgufKeys& keys, std::int64_t H, json& config) {
    const ConfigReader& reader = keys.reader();
    const std::int64_t turning = reader.needed_integer(keys.key("rope.dimension_count"), 2);
    const std::int64_t rank = reader.needed_integer(keys.key("attention.kv_lora_rank"), 1);
    // Newer files describe the attention as one over the latent vectors, and keep the sizes of the heads
    // under names of their own.
    const auto width = [&](const char* usual, const char* own) {
        const std::string name = keys.key(own), other = keys.key(usual);
        return reader.has(name) ? reader.needed_integer(name, 1) : reader.needed_integer(other, 1);
    };
    const std::int64_t key_width = width("attention.key_length", "attention.key_length_mla"),
                       value_width = width("attention.value_length", "attention.value_length_mla");
    if (key_width <= turning)
        reader.refuse(keys.key("attention.key_length"),
                      tr("gguf_mixture.above_turning", "above rope.dimension_count, {}", turning));
    keys.key("attention.head_count_kv");
    const auto query_rank = reader.integer(keys.key("attention.q_lora_rank"), 1);
    config.update({{"num_key_value_heads", H},
                   {"kv_lora_rank", rank},
                   {"q_lora_rank", query_rank ? json(*query_rank) : json(nullptr)},
                   {"qk_rope_head_dim", turning},
                   {"qk_nope_head_dim", key_width - turning},
                   {"v_head_dim", value_width}});
    return turning;
}

} // namespace headscope::checkpoint
