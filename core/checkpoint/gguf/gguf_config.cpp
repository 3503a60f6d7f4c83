#include "core/checkpoint/gguf/gguf_config.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/architecture/architecture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

struct Row {
    std::string_view architecture; ///< general.architecture
    const char* model_type;        ///< what Hugging Face calls the family
    bool rms;                      ///< RMSNorm; else LayerNorm
    bool own_heads;                ///< a width of heads of their own, and fewer key heads; else D / H and H
};

constexpr std::array config_rows{
    Row{"llama", "llama", true, true},        Row{"qwen2", "qwen2", true, true},
    Row{"qwen3", "qwen3", true, true},        Row{"gemma2", "gemma2", true, true},
    Row{"gemma3", "gemma3_text", true, true}, Row{"phi3", "phi3", true, true},
    Row{"gptneox", "gpt_neox", false, false}, Row{"gpt2", "gpt2", false, false},
    Row{"bert", "bert", false, false},        Row{"cohere2", "cohere2", false, true},
    Row{"glm4", "glm4", true, true},          Row{"exaone4", "exaone4", true, true},
    Row{"nemotron", "nemotron", false, true}};

/// Builds the config from the keys of one architecture and remembers which it knows: any other might change
/// the numbers.
class ConfigBuilder {
public:
    explicit ConfigBuilder(const GgufFile& file)
        : file_(file), metadata_(file.metadata()), row_(find_row(metadata_)),
          prefix_(std::string(row_.architecture) + ".") {}

    json build();

private:
    static const Row& find_row(const ConfigReader& metadata);
    bool is(std::string_view architecture) const { return row_.architecture == architecture; }
    /// The whole key, which counts as known from now on.
    std::string key(std::string_view suffix) { return *known_.insert(prefix_ + std::string(suffix)).first; }
    /// Refuses a value that differs from what the model has without the key.
    void expect(std::string_view suffix, std::int64_t usual, const std::string& wanted);

    void read_sizes();
    void read_tables();
    void read_rope();
    json read_scaling(std::int64_t pairs);
    json read_factors(const char* tensor, std::int64_t pairs) const;
    void read_windows();
    void read_gemma();
    void read_end_tokens();
    void refuse_unknown() const;

    const GgufFile& file_;
    ConfigReader metadata_;
    const Row& row_;
    std::string prefix_; ///< "llama."
    std::set<std::string> known_;
    json config_;
    std::int64_t layers_ = 0, D_ = 0, H_ = 0, dk_ = 0;
};

const Row& ConfigBuilder::find_row(const ConfigReader& metadata) {
    if (const auto type = metadata.text("general.type"); type && *type != "model")
        metadata.refuse("general.type", tr("gguf_config.model_nothing_else_opened",
                                           "model: other types cannot be opened here"));
    if (metadata.integer("split.count", 0).value_or(1) > 1)
        metadata.refuse("split.count",
                        tr("gguf_config.1_put_parts_model",
                           "1: put the parts of the model together with llama-gguf-split --merge"));
    constexpr const char* key = "general.architecture";
    const auto row = std::ranges::find(config_rows, metadata.text(key).value_or(""), &Row::architecture);
    if (row == config_rows.end())
        metadata.refuse(key, tr("common.one", "one of {}", gguf_architecture_names()));
    return *row;
}

void ConfigBuilder::expect(std::string_view suffix, std::int64_t usual, const std::string& wanted) {
    const std::string name = key(suffix);
    if (metadata_.integer(name, 0).value_or(usual) != usual)
        metadata_.refuse(name, wanted);
}

void ConfigBuilder::read_sizes() {
    layers_ = metadata_.needed_integer(key("block_count"), 1);
    D_ = metadata_.needed_integer(key("embedding_length"), 1);
    H_ = metadata_.needed_integer(key("attention.head_count"), 1);
    const std::int64_t d_ff = metadata_.needed_integer(key("feed_forward_length"), 1);
    const std::int64_t positions = metadata_.needed_integer(key("context_length"), 1);
    const std::string eps =
        key(row_.rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon");
    if (metadata_.number(eps).value_or(0) <= 0)
        metadata_.refuse(eps, tr("common.number_above_0", "a number above 0"));
    if (layers_ > most_layers)
        metadata_.refuse(key("block_count"), tr("common.most", "at most {}", most_layers));
    if (D_ % H_ != 0 && !metadata_.has(key("attention.key_length")))
        metadata_.refuse(key("embedding_length"),
                         tr("gguf_config.multiple_attention_head", "a multiple of attention.head_count"));
    dk_ = metadata_.integer(key("attention.key_length"), 1).value_or(D_ / H_);
    expect("attention.value_length", dk_, tr("gguf_config.long_key", "{}, as long as a key", dk_));
    if (!row_.own_heads)
        expect("attention.key_length", D_ / H_,
               tr("gguf_config.heads_architecture_not_wider",
                  "{}, as the heads of this architecture are not wider", D_ / H_));
    const auto Hkv = metadata_.integer(key("attention.head_count_kv"), 1).value_or(H_);
    if (H_ % Hkv != 0 || (!row_.own_heads && Hkv != H_))
        metadata_.refuse(key("attention.head_count_kv"),
                         row_.own_heads ? tr("gguf_config.divisor", "a divisor of {}", H_)
                                        : std::to_string(H_));
    expect("expert_count", 0,
           tr("gguf_config.0_mixture_experts_not", "0: a mixture of experts is not computed here"));
    expect("expert_used_count", 0,
           tr("gguf_config.0_mixture_experts_not", "0: a mixture of experts is not computed here"));
    const std::string causal = key("attention.causal");
    if (metadata_.flag(causal).value_or(!is("bert")) == is("bert"))
        metadata_.refuse(causal, is("bert") ? "false" : "true");
    config_.update({{"num_hidden_layers", layers_},
                    {"hidden_size", D_},
                    {"num_attention_heads", H_},
                    {"num_key_value_heads", Hkv},
                    {"head_dim", dk_},
                    {"intermediate_size", d_ff},
                    {"n_inner", d_ff},
                    {"max_position_embeddings", positions},
                    {row_.rms ? "rms_norm_eps" : "layer_norm_eps", *metadata_.number(eps)},
                    {"layer_norm_epsilon", *metadata_.number(eps)},
                    {"norm_eps", *metadata_.number(eps)}});
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
    if (is("llama") || is("cohere2") || is("glm4") || is("nemotron")) {
        config_["attention_bias"] = file_.find("blk.0.attn_q.bias") != nullptr;
        config_["mlp_bias"] =
            file_.find(is("nemotron") ? "blk.0.ffn_up.bias" : "blk.0.ffn_gate.bias") != nullptr;
    }
    if (is("cohere2")) {
        const std::string scale = key("logit_scale");
        if (metadata_.number(scale).value_or(0) <= 0)
            metadata_.refuse(scale, tr("common.number_above_0", "a number above 0"));
        config_["logit_scale"] = *metadata_.number(scale);
    }
    if (is("gptneox"))
        config_["use_parallel_residual"] = metadata_.flag(key("use_parallel_residual")).value_or(true);
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
    known_.insert(prefix_ + "rope.scaling.finetuned");
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
    if (is("gpt2") || is("bert"))
        return;
    const std::int64_t width = metadata_.integer(count, 2).value_or(dk_);
    const bool partial = is("gptneox") || is("phi3") || is("glm4") || is("nemotron");
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
    if (!is("llama") && !is("gemma2") && !is("gemma3") && !is("phi3") && !is("cohere2") && !is("exaone4"))
        return;
    const std::string window_key = key("attention.sliding_window");
    const std::int64_t window = metadata_.integer(window_key, 0).value_or(0);
    if (window == 0 && is("cohere2"))
        metadata_.refuse(window_key, tr("common.number_above_0", "a number above 0"));
    config_["sliding_window"] = window == 0 ? json(nullptr) : json(window);
    if (is("llama")) {
        if (window != 0)
            config_["model_type"] = "mistral"; // which the converter calls llama too
        return;
    }
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

void ConfigBuilder::refuse_unknown() const {
    // What is said of the file, of embeddings of whole texts and of labels changes no number here.
    constexpr std::array<std::string_view, 4> harmless{"vocab_size", "pooling_type", "tensor_data_layout",
                                                       "classifier.output_labels"};
    for (const auto& [key, value] : metadata_.all().items()) {
        if (!key.starts_with(prefix_) || known_.contains(key))
            continue;
        const std::string_view suffix = std::string_view(key).substr(prefix_.size());
        if (std::ranges::find(harmless, suffix) == harmless.end())
            metadata_.refuse(
                key, tr("gguf_config.absent_program_not_know",
                        "absent: the program does not know what it changes; get another file of the model"));
    }
}

json ConfigBuilder::build() {
    config_["model_type"] = row_.model_type;
    read_sizes();
    read_tables();
    read_rope();
    read_windows();
    read_gemma();
    read_end_tokens();
    refuse_unknown();
    return std::move(config_);
}

} // namespace

nlohmann::json gguf_config(const GgufFile& file) {
    return ConfigBuilder(file).build();
}

std::string gguf_architecture_names() {
    return joined(config_rows, &Row::architecture);
}

} // namespace headscope::checkpoint
