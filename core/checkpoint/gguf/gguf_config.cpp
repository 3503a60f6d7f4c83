#include "core/checkpoint/gguf/gguf_config.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/gguf/gguf_keys.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

/// Builds the config from the keys of one architecture.
class ConfigBuilder {
public:
    explicit ConfigBuilder(const GgufFile& file)
        : file_(file), keys_(file), metadata_(keys_.reader()), row_(keys_.row()) {}

    json build();

private:
    bool is(std::string_view architecture) const { return keys_.is(architecture); }
    std::string key(std::string_view suffix) { return keys_.key(suffix); }

    void read_sizes();
    void read_heads();
    void read_tables();
    void read_biases();
    void read_scales();
    void read_rope();
    json read_scaling(std::int64_t pairs);
    json read_factors(const char* tensor, std::int64_t pairs) const;
    void read_windows();
    void read_gemma();
    void read_own_keys();
    void read_end_tokens();

    const GgufFile& file_;
    GgufKeys keys_;
    const ConfigReader& metadata_;
    const GgufRow& row_;
    json config_;
    std::int64_t layers_ = 0, D_ = 0, H_ = 0, Hkv_ = 0, dk_ = 0, d_ff_ = 0;
};

void ConfigBuilder::read_sizes() {
    layers_ = metadata_.needed_integer(key("block_count"), 1);
    D_ = metadata_.needed_integer(key("embedding_length"), 1);
    H_ = metadata_.needed_integer(key("attention.head_count"), 1);
    d_ff_ = metadata_.needed_integer(key("feed_forward_length"), 1);
    const std::int64_t positions = metadata_.needed_integer(key("context_length"), 1);
    const double eps =
        keys_.positive(row_.rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", 0);
    if (layers_ > most_layers)
        metadata_.refuse(key("block_count"), tr("common.most", "at most {}", most_layers));
    const std::string causal = key("attention.causal");
    if (metadata_.flag(causal).value_or(!is("bert")) == is("bert"))
        metadata_.refuse(causal, is("bert") ? "false" : "true");
    config_.update({{"num_hidden_layers", layers_},
                    {"hidden_size", D_},
                    {"num_attention_heads", H_},
                    {"intermediate_size", d_ff_},
                    {"n_inner", d_ff_},
                    {"ffn_hidden_size", d_ff_},
                    {"max_position_embeddings", positions},
                    {row_.rms ? "rms_norm_eps" : "layer_norm_eps", eps},
                    {"layer_norm_epsilon", eps},
                    {"norm_epsilon", eps},
                    {"norm_eps", eps}});
    if (is("deepseek2")) {
        dk_ = read_gguf_latent(keys_, H_, config_);
        Hkv_ = H_;
    } else {
        read_heads();
    }
    read_gguf_mixture(keys_, config_);
}

void ConfigBuilder::read_heads() {
    if (D_ % H_ != 0 && !metadata_.has(key("attention.key_length")))
        metadata_.refuse(key("embedding_length"),
                         tr("gguf_config.multiple_attention_head", "a multiple of attention.head_count"));
    dk_ = metadata_.integer(key("attention.key_length"), 1).value_or(D_ / H_);
    keys_.expect("attention.value_length", dk_, tr("gguf_config.long_key", "{}, as long as a key", dk_));
    if (!row_.own_width)
        keys_.expect("attention.key_length", D_ / H_,
                     tr("gguf_config.heads_architecture_not_wider",
                        "{}, as the heads of this architecture are not wider", D_ / H_));
    Hkv_ = metadata_.integer(key("attention.head_count_kv"), 1).value_or(H_);
    if (H_ % Hkv_ != 0 || (!row_.own_heads && Hkv_ != H_))
        metadata_.refuse(key("attention.head_count_kv"),
                         row_.own_heads ? tr("gguf_config.divisor", "a divisor of {}", H_)
                                        : std::to_string(H_));
    config_.update({{"num_key_value_heads", Hkv_}, {"num_kv_heads", Hkv_}, {"head_dim", dk_}});
}

/// What the tensors say by being there and by their sizes.
void ConfigBuilder::read_tables() {
    const auto rows_of = [&](const char* name) -> std::int64_t {
        const GgufEntry* const entry = file_.find(name);
        if (entry == nullptr || entry->extents.size() != 2)
            fail_input(entry == nullptr ? tr("gguf_config.tensor_missing_should_two",
                                             "{}: the tensor {} is missing; it should be there with two "
                                             "axes, so get the file again",
                                             file_.source(), name)
                                        : tr("gguf_config.tensor_shape_should_two",
                                             "{}: the tensor {} has shape {}; it should be there with two "
                                             "axes, so get the file again",
                                             file_.source(), name, entry->shape_text()));
        return entry->extents.front();
    };
    const std::int64_t vocab = rows_of("token_embd.weight");
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (vocab > most)
        fail_input(tr("gguf_config.token_embd_weight_rows",
                      "{}: token_embd.weight has {} rows; at most {} can be used here", file_.source(), vocab,
                      most));
    config_["vocab_size"] = vocab;
    config_["tie_word_embeddings"] = is("bert") || file_.find("output.weight") == nullptr;
    if (is("bert"))
        config_["type_vocab_size"] = rows_of("token_types.weight");
}

void ConfigBuilder::read_biases() {
    const bool packed = file_.find("blk.0.attn_qkv.bias") != nullptr,
               attention = packed || file_.find("blk.0.attn_q.bias") != nullptr;
    for (const char* name : {"attention_bias", "qkv_bias", "use_qkv_bias", "use_bias", "bias"})
        config_[name] = attention;
    config_["mlp_bias"] = file_.find(is("nemotron") ? "blk.0.ffn_up.bias" : "blk.0.ffn_gate.bias") != nullptr;
}

/// Numbers that multiply.
void ConfigBuilder::read_scales() {
    if (is("command-r") || is("cohere2"))
        config_["logit_scale"] = keys_.positive("logit_scale", 0);
    if (is("granite") || is("granitemoe"))
        config_.update({{"attention_multiplier",
                         keys_.positive("attention.scale", 1 / std::sqrt(static_cast<double>(dk_)))},
                        {"embedding_multiplier", keys_.positive("embedding_scale", 1)},
                        {"residual_multiplier", keys_.positive("residual_scale", 1)},
                        {"logits_scaling", keys_.positive("logit_scale", 1)}});
}

/// Keys of one architecture alone.
void ConfigBuilder::read_own_keys() {
    if (is("gptneox") || is("stablelm"))
        config_["use_parallel_residual"] =
            metadata_.flag(key("use_parallel_residual")).value_or(is("gptneox"));
    if (is("stablelm"))
        config_["qk_layernorm"] = file_.find("blk.0.attn_q_norm.weight") != nullptr;
    if (is("command-r"))
        config_["use_qk_norm"] = file_.find("blk.0.attn_q_norm.weight") != nullptr;
    if (is("falcon")) {
        const bool two_norms = file_.find("blk.0.attn_norm_2.weight") != nullptr;
        config_.update({{"new_decoder_architecture", two_norms || Hkv_ > 1},
                        {"num_ln_in_parallel_attn", two_norms ? 2 : 1},
                        {"multi_query", true},
                        {"parallel_attn", true}});
    }
    if (is("starcoder") && Hkv_ != 1)
        metadata_.refuse(key("attention.head_count_kv"),
                         tr("gguf_config.one_key_head", "1, as all queries read one key head"));
    if ((is("bloom") || is("mpt")) && d_ff_ != 4 * D_)
        metadata_.refuse(key("feed_forward_length"), std::to_string(4 * D_));
    const std::string limit = key("attention.clamp_kqv");
    const bool limited = metadata_.number(limit).value_or(0) > 0;
    if (is("mpt")) {
        const std::string bias = key("attention.max_alibi_bias");
        constexpr double usual = 8;
        if (metadata_.number(bias).value_or(usual) != usual)
            metadata_.refuse(bias, tr("gguf_config.eight", "8, the only one computed here"));
        config_["attn_config"] = {{"alibi", true}};
        if (limited)
            config_["attn_config"]["clip_qkv"] = *metadata_.number(limit);
    } else if (is("olmo")) {
        config_["clip_qkv"] = limited ? json(*metadata_.number(limit)) : json(nullptr);
    } else if (metadata_.number(limit).value_or(0) != 0) {
        metadata_.refuse(limit, tr("gguf_config.no_limit", "0: this architecture has no limits"));
    }
}

json ConfigBuilder::read_factors(const char* tensor, std::int64_t pairs) const {
    const GgufEntry* const entry = file_.find(tensor);
    if (entry == nullptr || entry->extents != std::vector{pairs})
        fail_input(
            entry == nullptr
                ? tr("gguf_config.tensor_missing_should_one",
                     "{}: the tensor {} is missing; it should have ({}), one factor for each rotary pair",
                     file_.source(), tensor, pairs)
                : tr("gguf_config.tensor_shape_should_one",
                     "{}: the tensor {} has shape {}; it should have ({}), one factor for each rotary pair",
                     file_.source(), tensor, entry->shape_text(), pairs));
    json list = json::array();
    for (const float factor : file_.tensor(tensor)->values()) {
        if (!(factor > 0) || std::isinf(factor))
            fail_input(tr("gguf_config.holds_each_factor_should",
                          "{}: {} holds {}; each factor should be a number above 0", file_.source(), tensor,
                          std::to_string(factor)));
        list.push_back(factor);
    }
    return list;
}

/// rope_scaling; null where there is none.
json ConfigBuilder::read_scaling(std::int64_t pairs) {
    const std::string type_key = key("rope.scaling.type"), factor_key = key("rope.scaling.factor"),
                      once = key("rope.scale_linear"), attention = key("rope.scaling.attn_factor"),
                      original = key("rope.scaling.original_context_length");
    key("rope.scaling.finetuned");
    const bool by_length = file_.find("rope_factors_long.weight") != nullptr ||
                           file_.find("rope_factors_short.weight") != nullptr;
    const bool always = file_.find("rope_freqs.weight") != nullptr;
    const double factor = metadata_.number(factor_key).value_or(metadata_.number(once).value_or(1));
    const double magnitude = metadata_.number(attention).value_or(1);
    const std::string usual = factor == 1 || factor == 0 ? "none" : "linear";
    const std::string type = metadata_.text(type_key).value_or(by_length ? "longrope" : usual);
    const auto positions = config_["max_position_embeddings"].get<std::int64_t>();
    const auto trained = metadata_.integer(original, 1).value_or(positions);
    if (factor < 0 || (factor == 0 && type == "yarn"))
        metadata_.refuse(factor_key, tr("common.number_above_0", "a number above 0"));
    if (magnitude <= 0)
        metadata_.refuse(attention, tr("common.number_above_0", "a number above 0"));
    if (by_length || always) {
        if (type != "none" && type != "longrope")
            metadata_.refuse(type_key, tr("gguf_config.none_longrope_beside_tensor",
                                          "none or longrope if a tensor has frequency factors"));
        const char* const shorter = by_length ? "rope_factors_short.weight" : "rope_freqs.weight";
        const char* const longer = by_length ? "rope_factors_long.weight" : shorter;
        return {{"type", "longrope"},
                {"short_factor", read_factors(shorter, pairs)},
                {"long_factor", read_factors(longer, pairs)},
                {"original_max_position_embeddings", trained},
                {"factor", 1.0},
                {"attention_factor", magnitude}};
    }
    if (type == "yarn") {
        json yarn{{"type", "yarn"}, {"factor", factor}, {"original_max_position_embeddings", trained}};
        if (magnitude != 1) // on top of what the length gives
            yarn["attention_factor"] = magnitude * (factor > 1 ? 0.1 * std::log(factor) + 1 : 1);
        for (const char* name : {"beta_fast", "beta_slow"})
            if (const auto beta = metadata_.number(key(std::string("rope.scaling.yarn_") + name)))
                yarn[name] = *beta;
        if (is("gpt-oss"))
            yarn["truncate"] = false; // the blend of this family does not end at whole pairs
        if (is("deepseek2"))
            if (const auto tenth = metadata_.number(key("rope.scaling.yarn_log_multiplier")))
                yarn["mscale"] = yarn["mscale_all_dim"] = *tenth * 10; // both are equal in these models
        return yarn;
    }
    if (magnitude != 1)
        metadata_.refuse(attention, tr("gguf_config.1_without_yarn_longrope",
                                       "1 without yarn, longrope and frequency factors"));
    if (type == "none" || factor == 1 || factor == 0)
        return nullptr;
    if (type != "linear")
        metadata_.refuse(type_key,
                         tr("gguf_config.none_linear_yarn_longrope", "none, linear, yarn or longrope"));
    return {{"type", "linear"}, {"factor", factor}};
}

void ConfigBuilder::read_rope() {
    const std::string count = key("rope.dimension_count"), base = key("rope.freq_base");
    if (row_.rotation == GgufRotation::none)
        return;
    const std::int64_t width = metadata_.integer(count, 2).value_or(dk_);
    const bool partial = row_.rotation == GgufRotation::part;
    if (width % 2 != 0 || width > dk_ || (width != dk_ && !partial))
        metadata_.refuse(count, partial
                                    ? tr("gguf_config.even_number_most", "an even number of at most {}", dk_)
                                    : tr("gguf_config.architecture_turns_whole",
                                         "{}, as this architecture rotates whole heads", dk_));
    const double theta = metadata_.number(base).value_or(10000);
    if (theta <= 0)
        metadata_.refuse(base, tr("common.number_above_0", "a number above 0"));
    // The family's reader multiplies by dk and cuts off.
    const double part = width == dk_ ? 1.0 : (static_cast<double>(width) + 0.5) / static_cast<double>(dk_);
    config_.update({{"rope_theta", theta},
                    {"rotary_emb_base", theta},
                    {"rotary_pct", part},
                    {"partial_rotary_factor", part},
                    {"rope_scaling", read_scaling(width / 2)}});
    if (is("gemma3"))
        config_["rope_local_base_freq"] = metadata_.number(key("rope.freq_base_swa")).value_or(10000);
}

void ConfigBuilder::read_windows() {
    if (!is("llama") && !is("gemma2") && !is("gemma3") && !is("phi3") && !is("cohere2") && !is("exaone4") &&
        !is("olmo2") && !is("gpt-oss"))
        return;
    const std::string window_key = key("attention.sliding_window");
    const std::int64_t window = metadata_.integer(window_key, 0).value_or(0);
    if (window == 0 && (is("cohere2") || is("gpt-oss")))
        metadata_.refuse(window_key, tr("common.number_above_0", "a number above 0"));
    config_["sliding_window"] = window == 0 ? json(nullptr) : json(window);
    if (is("llama")) {
        if (window != 0 && config_["model_type"] == "llama")
            config_["model_type"] = "mistral"; // which the converter calls llama too
        return;
    }
    if (is("olmo2") && window != 0)
        config_["model_type"] = "olmo3";
    const std::string pattern_key = key("attention.sliding_window_pattern");
    if (is("phi3") || !metadata_.has(pattern_key))
        return;
    // One truth value for each layer, or every how many layers one reads everything.
    json types = json::array();
    const auto add = [&](bool slides) { types.push_back(slides ? "sliding_attention" : "full_attention"); };
    if (const json& pattern = *metadata_.find(pattern_key); pattern.is_array()) {
        for (const json& slides : pattern)
            if (slides.is_boolean())
                add(slides.get<bool>());
        if (types.size() != pattern.size() || static_cast<std::int64_t>(pattern.size()) != layers_)
            metadata_.refuse(pattern_key, tr("gguf_config.list_times_true_false",
                                             "a list of {} entries, true or false", layers_));
    } else {
        const std::int64_t every = metadata_.needed_integer(pattern_key, 1);
        for (std::int64_t l = 0; l < layers_; ++l)
            add((l + 1) % every != 0);
    }
    config_["layer_types"] = types;
}

void ConfigBuilder::read_gemma() {
    if (!is("gemma2") && !is("gemma3"))
        return;
    for (const char* name : {"attn_logit_softcapping", "final_logit_softcapping"}) {
        const double cap = metadata_.number(key(name)).value_or(0);
        if (cap < 0)
            metadata_.refuse(key(name), tr("gguf_config.number_0", "a number from 0 on"));
        if (cap > 0 && is("gemma3") && std::string_view(name) == "attn_logit_softcapping")
            metadata_.refuse(key(name),
                             tr("gguf_config.0_gemma3_models_not", "0: gemma3 models do not cap scores"));
        config_[name] = cap == 0 ? json(nullptr) : json(cap);
    }
    // The format has no key of its own for the scale: the models of 27B, which are told by their layers,
    // divide by the width of D / H and the others by that of a key.
    const std::string scale_key = key("attention.scale");
    const bool of_27b = layers_ == (is("gemma2") ? 46 : 62);
    double scalar = static_cast<double>(of_27b ? D_ / H_ : dk_);
    if (const auto scale = metadata_.number(scale_key)) {
        if (*scale <= 0)
            metadata_.refuse(scale_key, tr("common.number_above_0", "a number above 0"));
        scalar = 1 / (*scale * *scale);
        // It is scalar^-1/2 of a whole number, rounded to float32.
        constexpr double rounding = 1e-6;
        if (std::abs(scalar - std::round(scalar)) < rounding * scalar)
            scalar = std::round(scalar);
    }
    config_["query_pre_attn_scalar"] = scalar;
}

void ConfigBuilder::read_end_tokens() {
    json ids = json::array();
    for (const char* name : {"eos", "eot", "eom"})
        if (const auto id = metadata_.integer("tokenizer.ggml." + std::string(name) + "_token_id", 0))
            ids.push_back(*id);
    if (!ids.empty())
        config_["eos_token_id"] = ids;
}

json ConfigBuilder::build() {
    config_["model_type"] = row_.model_type;
    read_sizes();
    read_tables();
    read_biases();
    read_scales();
    read_own_keys();
    read_rope();
    read_windows();
    read_gemma();
    read_end_tokens();
    keys_.refuse_unknown();
    return std::move(config_);
}

} // namespace

nlohmann::json gguf_config(const GgufFile& file) {
    return ConfigBuilder(file).build();
}

} // namespace headscope::checkpoint
