#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <algorithm>

namespace headscope::checkpoint {

namespace {

constexpr SizeDefaults sizes{.layers = 32,
                             .D = 4096,
                             .H = 32,
                             .d_ff = 22016,
                             .vocab = 151936,
                             .max_positions = 32768,
                             .norm_eps = 1e-6,
                             .activation = "silu",
                             .tied = false};
constexpr SizeDefaults moe_sizes{.layers = 24,
                                 .D = 2048,
                                 .H = 32,
                                 .d_ff = 6144,
                                 .vocab = 151936,
                                 .max_positions = 32768,
                                 .norm_eps = 1e-6,
                                 .activation = "silu",
                                 .tied = false};
// Qwen 2 with images (Wang et al. 2024, "Qwen2-VL"), as the configuration class of 72 billion parameters.
constexpr SizeDefaults vl_sizes{.layers = 80,
                                .D = 8192,
                                .H = 64,
                                .d_ff = 29568,
                                .vocab = 152064,
                                .max_positions = 32768,
                                .norm_eps = 1e-5,
                                .activation = "silu",
                                .tied = false};
constexpr SizeDefaults omni_sizes{.layers = 28,
                                  .D = 3584,
                                  .H = 28,
                                  .d_ff = 18944,
                                  .vocab = 152064,
                                  .max_positions = 32768,
                                  .norm_eps = 1e-6,
                                  .activation = "silu",
                                  .tied = false};
constexpr RopeKeys image_rope{.usual_theta = 1e6, .whole = true, .mrope = true};

/// use_sliding_window switches windows on, for layers from max_window_layers on.
void read_switched_windows(const ConfigReader& reader, std::int64_t usual, std::int64_t usual_first,
                           Architecture& a) {
    if (!reader.flag("use_sliding_window", false))
        return;
    const std::int64_t first = reader.integer("max_window_layers", 0).value_or(usual_first);
    read_windows(
        reader, usual, [first](std::int64_t l) { return l >= first; }, a);
}

Architecture read_qwen2_vl_like(const ConfigReader& reader, const char* family) {
    Architecture a = read_llama_like(
        reader, {.family = family, .defaults = vl_sizes, .Hkv = 8, .rope = image_rope, .head_dim = nullptr},
        {.qkv = true});
    read_switched_windows(reader, 4096, 80, a);
    return a;
}

/// A norm on each query and key head in place of biases.
Architecture read_qwen3_like(const ConfigReader& reader, const LlamaLike& family) {
    const bool attention = reader.flag("attention_bias", false);
    Architecture a = read_llama_like(reader, family, {.qkv = attention, .out = attention});
    a.qk_norm = QkNorm::per_head;
    a.names.add(
        {{"layers.{l}.self_attn.q_norm", Layout::vector, Extent::dk, Extent::none, TensorId::q_norm},
         {"layers.{l}.self_attn.k_norm", Layout::vector, Extent::dk, Extent::none, TensorId::k_norm}});
    return a;
}

constexpr MixtureNames qwen_mixture{.router = "mlp.gate.weight",
                                    .gate = "mlp.experts.{e}.gate_proj.weight",
                                    .in = "mlp.experts.{e}.up_proj.weight",
                                    .out = "mlp.experts.{e}.down_proj.weight",
                                    .shared = "mlp.shared_expert"};

/// Which layers have experts, their width and the route. A missing key means the usual number.
void read_qwen_mixture(const ConfigReader& reader, std::int64_t usual_width, std::int64_t usual_used,
                       Architecture& a) {
    const std::vector<std::int64_t> dense = reader.integers("mlp_only_layers", 0);
    const std::int64_t step = reader.size("decoder_sparse_step", 1);
    for (std::int64_t l = 0; l < a.layers; ++l)
        a.mixtures.push_back((l + 1) % step == 0 && std::ranges::find(dense, l) == dense.end());
    a.d_expert = reader.size("moe_intermediate_size", usual_width);
    a.route = {.used = used_experts(reader, "num_experts_per_tok", usual_used, a.experts),
               .score = graph::Route::Score::softmax,
               .sum_to_one = reader.flag("norm_topk_prob", false)};
}

/// An expert that all tokens use, whose output is multiplied by a sigmoid.
void add_shared_gate(Architecture& a) {
    const TensorName shared_gate{.weight = TensorId::shared_gate,
                                 .name = "layers.{l}.mlp.shared_expert_gate.weight",
                                 .layout = Layout::linear,
                                 .in = Extent::D,
                                 .out = Extent::one,
                                 .layers = InLayers::mixtures};
    a.names.body.push_back(shared_gate);
}

/// Puts delta layers in place of the attention of the layers that layer_types calls linear_attention, or
/// without that key of all but every fourth.
void read_delta_layers(const ConfigReader& reader, Architecture& a) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    DeltaLayers delta{.H = reader.size("linear_num_value_heads", 32),
                      .Hqk = reader.size("linear_num_key_heads", 16),
                      .dk = reader.size("linear_key_head_dim", 128),
                      .dv = reader.size("linear_value_head_dim", 128),
                      .kernel = reader.size("linear_conv_kernel_dim", 4)};
    if (delta.H % delta.Hqk != 0)
        reader.refuse("linear_num_value_heads",
                      tr("qwen.multiple_key_heads", "a multiple of linear_num_key_heads = {}", delta.Hqk));
    const std::vector<std::string> types = reader.texts("layer_types");
    const std::int64_t interval = reader.size("full_attention_interval", 4);
    for (std::int64_t l = 0; l < a.layers; ++l) {
        const std::string usual = (l + 1) % interval == 0 ? "full_attention" : "linear_attention";
        const std::string type = types.empty()           ? usual
                                 : std::ssize(types) > l ? types[static_cast<std::size_t>(l)]
                                                         : "";
        if (std::ssize(types) > a.layers || (type != "linear_attention" && type != "full_attention"))
            reader.refuse("layer_types",
                          tr("qwen.list_delta_full",
                             "a list of {} entries, linear_attention or full_attention", a.layers));
        a.delta_layers.push_back(type == "linear_attention");
    }
    if (std::ranges::find(a.delta_layers, false) == a.delta_layers.end())
        reader.refuse("layer_types",
                      tr("qwen.some_full_attention",
                         "a list with full_attention: a model without attention is not shown"));
    for (TensorName& row : a.names.body)
        if (row.name.find(".self_attn.") != std::string::npos)
            row.layers = InLayers::attention;
    if (std::ranges::find(a.delta_layers, true) == a.delta_layers.end()) {
        a.delta_layers.clear();
        return;
    }
    const auto add = [&](TensorId weight, const char* name, Layout how, E in, E out = E::none) {
        a.names.body.push_back(
            {weight, std::string("layers.{l}.linear_attn.") + name, how, in, out, false, InLayers::delta});
    };
    add(delta_W_QKVZ, "in_proj_qkvz.weight", linear, E::D, E::delta_QKVZ);
    add(delta_W_BA, "in_proj_ba.weight", linear, E::D, E::delta_BA);
    add(delta_conv, "conv1d.weight", channels, E::delta_kernel, E::delta_channels);
    add(delta_A_log, "A_log", vector, E::delta_H);
    add(delta_dt_bias, "dt_bias", vector, E::delta_H);
    add(delta_norm, "norm.weight", vector, E::delta_dv);
    add(delta_W_out, "out_proj.weight", linear, E::delta_H_dv, E::D);
    a.delta = std::move(delta);
}

SizeDefaults with_head_dim(SizeDefaults defaults, std::int64_t head_dim) {
    defaults.head_dim = head_dim;
    return defaults;
}

} // namespace

Architecture read_qwen2(const ConfigReader& reader) {
    Architecture a =
        read_llama_like(reader, {.family = "qwen2", .defaults = sizes, .Hkv = 32}, {.qkv = true});
    read_switched_windows(reader, 4096, 28, a);
    return a;
}

Architecture read_qwen3(const ConfigReader& reader) {
    Architecture a =
        read_qwen3_like(reader, {.family = "qwen3", .defaults = with_head_dim(sizes, 128), .Hkv = 32});
    read_switched_windows(reader, 4096, 28, a);
    return a;
}

/// Qwen3 with mixtures of experts in place of MLPs; every layer has the window, if there is one.
Architecture read_qwen3_moe(const ConfigReader& reader) {
    Architecture a = read_qwen3_like(reader, {.family = "qwen3_moe", .defaults = moe_sizes, .Hkv = 4});
    if (reader.flag("use_sliding_window", false))
        read_one_window(reader, 4096, a);
    a.experts = reader.size("num_experts", reader.size("num_local_experts", 128));
    read_qwen_mixture(reader, 768, 8, a);
    set_mixture(qwen_mixture, a);
    return a;
}

/// Qwen2 with mixtures of experts in place of MLPs, and beside each an expert that all tokens use, whose
/// output is multiplied by a sigmoid (Yang et al. 2024, "Qwen2 Technical Report", section 2.2.2).
Architecture read_qwen2_moe(const ConfigReader& reader) {
    Architecture a = read_llama_like(reader,
                                     {.family = "qwen2_moe",
                                      .defaults = {.layers = 24,
                                                   .D = 2048,
                                                   .H = 16,
                                                   .d_ff = 5632,
                                                   .vocab = 151936,
                                                   .max_positions = 32768,
                                                   .norm_eps = 1e-6,
                                                   .activation = "silu",
                                                   .tied = false},
                                      .Hkv = 16},
                                     {.qkv = reader.flag("qkv_bias", true)});
    if (reader.flag("use_sliding_window", false))
        reader.refuse("use_sliding_window",
                      tr("qwen.window_of_no_layer",
                         "false: which layers slide depends on the version of the program that saved it"));
    a.experts = reader.size("num_experts", 60);
    read_qwen_mixture(reader, 1408, 4, a);
    a.d_shared = reader.size("shared_expert_intermediate_size", 5632);
    set_mixture(qwen_mixture, a);
    add_shared_gate(a);
    return a;
}

/// Qwen3-Next (Qwen Team 2025): delta layers, and in every fourth layer attention with a gate on the head
/// outputs; mixtures like those of Qwen2.
Architecture read_qwen3_next(const ConfigReader& reader) {
    SizeDefaults defaults = with_head_dim(moe_sizes, 256);
    defaults.layers = 48;
    defaults.H = 16;
    defaults.d_ff = 5632;
    Architecture a = read_qwen3_like(
        reader, {.family = "qwen3_next", .defaults = defaults, .Hkv = 2, .rope = {.usual_part = 0.25}});
    a.norm = NormKind::rms_plus_one;
    if (a.activation != graph::Function::silu) // which delta layers and experts share
        reader.refuse("hidden_act",
                      tr("qwen.silu_only", "silu: delta layers with another activation are not computed"));
    const bool bias = find_row(a.names.body, TensorId::b_Q) != nullptr;
    a.names.drop({TensorId::W_Q, TensorId::b_Q});
    a.names.add({{"layers.{l}.self_attn.q_proj", Layout::linear, Extent::D, Extent::QG, TensorId::W_QG,
                  bias ? std::optional(TensorId::b_QG) : std::nullopt}});
    read_delta_layers(reader, a);
    a.experts = reader.size("num_experts", reader.size("num_local_experts", 512));
    read_qwen_mixture(reader, 512, 10, a);
    a.route.sum_to_one = reader.flag("norm_topk_prob", true);
    a.d_shared = reader.size("shared_expert_intermediate_size", 512);
    set_mixture(qwen_mixture, a);
    add_shared_gate(a);
    a.names.not_needed.emplace_back("mtp."); // predictors of further tokens
    return a;
}

// The language models inside checkpoints with images or sound.

Architecture read_qwen2_vl_text(const ConfigReader& reader) {
    return read_qwen2_vl_like(reader, "qwen2_vl_text");
}

Architecture read_qwen2_5_vl_text(const ConfigReader& reader) {
    return read_qwen2_vl_like(reader, "qwen2_5_vl_text");
}

Architecture read_qwen2_5_omni_text(const ConfigReader& reader) {
    Architecture a = read_llama_like(
        reader, {.family = "qwen2_5_omni_text", .defaults = omni_sizes, .Hkv = 4, .rope = image_rope},
        {.qkv = true});
    read_switched_windows(reader, 32768, 28, a);
    return a;
}

Architecture read_qwen3_vl_text(const ConfigReader& reader) {
    SizeDefaults defaults = with_head_dim(sizes, 128);
    defaults.max_positions = 128000;
    RopeKeys rope = image_rope;
    rope.usual_theta = 5e6;
    return read_qwen3_like(reader,
                           {.family = "qwen3_vl_text", .defaults = defaults, .Hkv = 32, .rope = rope});
}

} // namespace headscope::checkpoint
