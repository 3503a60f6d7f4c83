#include "core/checkpoint/families/common.h"

#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/stack_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, graph::Function>, 18> activations{
    {{"gelu", graph::Function::gelu},
     {"gelu_python", graph::Function::gelu},
     {"gelu_new", graph::Function::gelu_tanh},
     {"gelu_pytorch_tanh", graph::Function::gelu_tanh},
     {"gelu_python_tanh", graph::Function::gelu_tanh},
     {"gelu_fast", graph::Function::gelu_tanh},
     {"gelu_accurate", graph::Function::gelu_tanh},
     {"quick_gelu", graph::Function::gelu_quick},
     {"relu", graph::Function::relu},
     {"relu6", graph::Function::relu6},
     {"relu2", graph::Function::relu_square},
     {"leaky_relu", graph::Function::leaky_relu},
     {"silu", graph::Function::silu},
     {"swish", graph::Function::silu},
     {"mish", graph::Function::mish},
     {"tanh", graph::Function::tanh},
     {"sigmoid", graph::Function::sigmoid},
     {"linear", graph::Function::identity}}};

/// Layers that read another text make another model.
void refuse_cross_attention(const ConfigReader& reader) {
    if (reader.flag("add_cross_attention", false))
        reader.refuse("add_cross_attention", tr("common.false_cross_attention_model",
                                                "false: cross-attention in a model is not computed here"));
}

/// By layer, whether layer_types says sliding_attention; nothing where the key is missing.
std::optional<std::vector<bool>> read_layer_types(const ConfigReader& reader, std::int64_t layers) {
    const char* key = "layer_types";
    const json* types = reader.find(key);
    if (types == nullptr)
        return std::nullopt;
    const std::string wanted = tr("common.list_times_full_attention",
                                  "a list of {} entries, full_attention or sliding_attention", layers);
    if (!types->is_array() || static_cast<std::int64_t>(types->size()) != layers)
        reader.refuse(key, wanted);
    std::vector<bool> slides;
    for (const json& type : *types) {
        const std::string name = type.is_string() ? type.get<std::string>() : "";
        if (name != "sliding_attention" && name != "full_attention")
            reader.refuse(key, wanted);
        slides.push_back(name == "sliding_attention");
    }
    return slides;
}

} // namespace

std::int64_t used_experts(const ConfigReader& reader, const char* key, std::int64_t usual,
                          std::int64_t experts) {
    const std::int64_t used = reader.size(key, usual);
    if (used > experts)
        reader.refuse(key, tr("common.most_experts", "at most the number of experts, {}", experts));
    return used;
}

void set_mixture(const MixtureNames& names, Architecture& a) {
    using enum TensorId;
    using E = Extent;
    if (a.mixtures.empty() || std::ranges::find(a.mixtures, false) == a.mixtures.end()) {
        a.mixtures.clear();
        a.names.drop({W_gate, b_gate, W_in, b_in, W_out, b_out});
    }
    constexpr std::array of_mlp{W_gate, b_gate, W_in, b_in, W_out, b_out};
    for (TensorName& row : a.names.body)
        if (std::ranges::find(of_mlp, row.weight) != of_mlp.end())
            row.layers = InLayers::dense;
    a.expert_gate = {.function = a.activation};
    const std::string layer = "layers.{l}.";
    const auto add = [&](TensorId weight, const std::string& name, Layout how, Extent in, Extent out) {
        a.names.body.push_back({weight, layer + name, how, in, out, false, InLayers::mixtures});
    };
    add(W_router, names.router, Layout::linear, E::D, E::experts);
    add(expert_W_gate, names.gate, Layout::expert_linears, E::D, E::d_expert);
    add(expert_W_in, names.in, Layout::expert_linears, E::D, E::d_expert);
    add(expert_W_out, names.out, Layout::expert_linears, E::d_expert, E::D);
    if (a.d_shared == 0)
        return;
    const std::string shared = names.shared;
    add(W_gate, shared + ".gate_proj.weight", Layout::linear, E::D, E::d_shared);
    add(W_in, shared + ".up_proj.weight", Layout::linear, E::D, E::d_shared);
    add(W_out, shared + ".down_proj.weight", Layout::linear, E::d_shared, E::D);
}

graph::Function read_activation(const ConfigReader& reader, const char* key, const char* usual) {
    return activation_named(reader, key, reader.text(key, usual));
}

graph::Function activation_named(const ConfigReader& reader, const char* key, const std::string& name) {
    const auto row =
        std::ranges::find(activations, name, [](const auto& known) { return std::string(known.first); });
    if (row == activations.end())
        reader.refuse(key, tr("common.one", "one of {}",
                              joined(activations, [](const auto& known) { return known.first; })));
    return row->second;
}

Architecture read_sizes(const ConfigReader& reader, const char* family, const SizeKeys& own_keys,
                        const SizeDefaults& defaults) {
    refuse_cross_attention(reader);
    SizeKeys keys = own_keys;
    const SizeKeys common;
    const auto choose = [&](const char*& own, const char* other, bool only_own) {
        if (!only_own && reader.has(other))
            own = other;
    };
    choose(keys.layers, common.layers, keys.own_layers);
    choose(keys.D, common.D, keys.own_D);
    choose(keys.H, common.H, keys.own_H);
    choose(keys.max_positions, common.max_positions, false);

    Architecture a;
    a.family = family;
    a.dtype = reader.text("torch_dtype", reader.text("dtype", ""));
    a.layers = reader.size(keys.layers, defaults.layers);
    if (a.layers > most_layers)
        reader.refuse(keys.layers, tr("common.most", "at most {}", most_layers));
    a.D = reader.size(keys.D, defaults.D);
    a.H = a.Hkv = reader.size(keys.H, defaults.H);
    const auto head_dim = keys.head_dim == nullptr ? std::nullopt : reader.integer(keys.head_dim, 1);
    if (!head_dim && defaults.head_dim == 0 && a.D % a.H != 0)
        reader.refuse(keys.D, tr("common.multiple", "a multiple of {} = {}", keys.H, a.H));
    a.dk = head_dim.value_or(defaults.head_dim > 0 ? defaults.head_dim : a.D / a.H);
    const std::int64_t usual_d_ff = defaults.d_ff > 0 ? defaults.d_ff : 4 * a.D;
    a.d_ff = keys.d_ff == nullptr ? usual_d_ff : reader.size(keys.d_ff, usual_d_ff);
    a.vocab = reader.size("vocab_size", defaults.vocab);
    a.max_positions = reader.size(keys.max_positions, defaults.max_positions);
    a.norm_eps =
        keys.norm_eps == nullptr ? defaults.norm_eps : reader.positive(keys.norm_eps, defaults.norm_eps);
    a.activation = a.head_activation = keys.activation == nullptr
                                           ? activation_named(reader, "activation", defaults.activation)
                                           : read_activation(reader, keys.activation, defaults.activation);
    a.tied = reader.flag("tie_word_embeddings", defaults.tied);
    a.windows.resize(static_cast<std::size_t>(a.layers));
    a.chunks.resize(static_cast<std::size_t>(a.layers));
    a.layer_rope.resize(static_cast<std::size_t>(a.layers));
    return a;
}

void read_grouped_heads(const ConfigReader& reader, std::int64_t usual, Architecture& a, const char* key) {
    a.Hkv = reader.size(key, usual == 0 || reader.says_null(key) ? a.H : usual);
    if (a.H % a.Hkv != 0)
        reader.refuse(key,
                      tr("common.divisor_num_attention_heads", "a divisor of num_attention_heads = {}", a.H));
}

void set_pre_norm_decoder(Architecture& a) {
    a.causal = true;
    a.norms.before = true;
    a.final_norm = true;
}

void set_post_norm_encoder(Architecture& a) {
    a.embedding_norm = true;
    a.norms.after_sum = true;
}

void set_learned_positions(Architecture& a) {
    a.position_rows = a.max_positions;
}

Architecture read_llama_like(const ConfigReader& reader, const LlamaLike& family, const LlamaBiases& biases) {
    Architecture a = read_sizes(
        reader, family.family,
        {.norm_eps = family.norm_eps, .activation = family.activation, .head_dim = family.head_dim},
        family.defaults);
    set_pre_norm_decoder(a);
    a.norm = NormKind::rms;
    read_grouped_heads(reader, family.Hkv, a);
    read_rope(reader, family.rope, a);
    a.names = llama_names(biases);
    return a;
}

void use_layer_norms(Architecture& a, bool biased) {
    using enum TensorId;
    a.norm = NormKind::layer;
    for (const auto& [weight, bias] :
         {std::pair(norm1_weight, norm1_bias), std::pair(norm2_weight, norm2_bias),
          std::pair(final_norm_weight, final_norm_bias)})
        if (const TensorName* const row = find_row(a.names.body, weight); row != nullptr && biased) {
            const std::string stem = row->name.substr(0, row->name.rfind('.'));
            a.names.body.push_back({bias, stem + ".bias", Layout::vector, Extent::D, Extent::none});
        }
}

void use_fused_gate(Architecture& a) {
    a.gate = GatePacking::gate_first;
    a.names.drop({TensorId::W_gate, TensorId::W_in});
    a.names.add({{"layers.{l}.mlp.gate_up_proj", Layout::linear, Extent::D, Extent::two_d_ff,
                  TensorId::mlp_gate_in}});
}

NameMap llama_names(const LlamaBiases& biases) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    const auto bias = [](bool has, TensorId id) { return has ? std::optional(id) : std::nullopt; };
    return {.body = tensors_of({
                {"embed_tokens", table, E::vocab, E::D, W_E},
                {"norm", vector, E::D, E::none, final_norm_weight},
                {"layers.{l}.input_layernorm", vector, E::D, E::none, norm1_weight},
                {"layers.{l}.self_attn.q_proj", linear, E::D, E::H_dk, W_Q, bias(biases.qkv, b_Q)},
                {"layers.{l}.self_attn.k_proj", linear, E::D, E::Hkv_dk, W_K, bias(biases.qkv, b_K)},
                {"layers.{l}.self_attn.v_proj", linear, E::D, E::Hkv_dk, W_V, bias(biases.qkv, b_V)},
                {"layers.{l}.self_attn.o_proj", linear, E::H_dk, E::D, W_O, bias(biases.out, b_O)},
                {"layers.{l}.post_attention_layernorm", vector, E::D, E::none, norm2_weight},
                {"layers.{l}.mlp.gate_proj", linear, E::D, E::d_ff, W_gate, bias(biases.mlp, b_gate)},
                {"layers.{l}.mlp.up_proj", linear, E::D, E::d_ff, W_in, bias(biases.mlp, b_in)},
                {"layers.{l}.mlp.down_proj", linear, E::d_ff, E::D, W_out, bias(biases.mlp, b_out)},
            }),
            .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}}),
            .prefixes = {"model.", ""},
            .not_needed = {"rotary_emb.inv_freq"}};
}

void read_windows(const ConfigReader& reader, std::optional<std::int64_t> usual,
                  const std::function<bool(std::int64_t l)>& slides, Architecture& a, const char* key) {
    if (reader.says_null(key))
        return;
    const std::optional<std::int64_t> given = reader.integer(key, 1);
    const std::optional<std::vector<bool>> listed = read_layer_types(reader, a.layers);
    for (std::int64_t l = 0; l < a.layers; ++l) {
        const auto at = static_cast<std::size_t>(l);
        if (listed ? (*listed)[at] : slides(l))
            a.windows[at] = given ? given : usual;
    }
}

void read_one_window(const ConfigReader& reader, std::optional<std::int64_t> usual, Architecture& a) {
    const char* key = "sliding_window";
    const std::optional<std::int64_t> given = reader.integer(key, 1);
    if (!reader.says_null(key))
        std::ranges::fill(a.windows, given ? given : usual);
}

Architecture read_bert_like(const ConfigReader& reader, const char* family, const SizeDefaults& defaults) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    if (reader.flag("is_decoder", false))
        reader.refuse("is_decoder", tr("common.false_decoders_family_not",
                                       "false: decoders of this family are not computed here"));
    if (reader.text("position_embedding_type", "absolute") != "absolute")
        reader.refuse("position_embedding_type",
                      tr("common.absolute_kind_computed_here", "absolute, the only kind computed here"));
    Architecture a = read_sizes(reader, family, {}, defaults);
    set_post_norm_encoder(a);
    set_learned_positions(a);
    a.token_types = reader.size("type_vocab_size", 2);
    a.names.body = tensors_of({
        {"embeddings.word_embeddings", table, E::vocab, E::D, W_E},
        {"embeddings.position_embeddings", table, E::positions, E::D, W_P},
        {"embeddings.token_type_embeddings", table, E::token_types, E::D, W_type},
        {"embeddings.LayerNorm", vector, E::D, E::none, embedding_norm_weight, embedding_norm_bias},
        {"encoder.layer.{l}.attention.self.query", linear, E::D, E::H_dk, W_Q, b_Q},
        {"encoder.layer.{l}.attention.self.key", linear, E::D, E::Hkv_dk, W_K, b_K},
        {"encoder.layer.{l}.attention.self.value", linear, E::D, E::Hkv_dk, W_V, b_V},
        {"encoder.layer.{l}.attention.output.dense", linear, E::H_dk, E::D, W_O, b_O},
        {"encoder.layer.{l}.attention.output.LayerNorm", vector, E::D, E::none, norm1_weight, norm1_bias},
        {"encoder.layer.{l}.intermediate.dense", linear, E::D, E::d_ff, W_in, b_in},
        {"encoder.layer.{l}.output.dense", linear, E::d_ff, E::D, W_out, b_out},
        {"encoder.layer.{l}.output.LayerNorm", vector, E::D, E::none, norm2_weight, norm2_bias},
    });
    return a;
}

} // namespace headscope::checkpoint
