#include "core/base/message.h"
#include "core/checkpoint/families/common.h"
#include "core/checkpoint/families/rope_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

namespace headscope::checkpoint {

namespace {

/// The number of standard deviations above the mean below which lies this fraction of normally distributed
/// numbers, by Newton's method. `fraction`: above 0 and below 1.
double normal_quantile(double fraction) {
    constexpr int most_steps = 100;
    const double root_of_tau = std::sqrt(2.0 * std::numbers::pi);
    double z = 0;
    for (int step = 0; step < most_steps; ++step) {
        const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2),
                     density = std::exp(-0.5 * z * z) / root_of_tau,
                     change = std::clamp((below - fraction) / density, -0.5, 0.5);
        z -= change;
        if (std::abs(change) < 1e-15)
            break;
    }
    return z;
}

/// The fraction of each layer's gates that becomes 0, as a cutoff.
void read_sparsity(const ConfigReader& reader, Architecture& a) {
    const char* key = "activation_sparsity_pattern";
    constexpr std::int64_t usual_layers = 10;
    constexpr double usual = 0.95;
    std::vector<double> fractions = reader.numbers(key);
    if (!reader.has(key)) {
        fractions.assign(static_cast<std::size_t>(a.layers), 0.0);
        if (a.layers > usual_layers)
            std::fill_n(fractions.begin(), usual_layers, usual);
    }
    if (std::ssize(fractions) != a.layers ||
        std::ranges::any_of(fractions, [](double fraction) { return fraction >= 1; }))
        reader.refuse(key, tr("gemma3n.fraction_per_layer",
                              "a list of {} numbers below 1, the fraction of each layer’s gates that "
                              "becomes 0",
                              a.layers));
    for (const double fraction : fractions)
        a.gate_cutoffs.push_back(fraction > 0 ? std::optional(normal_quantile(fraction)) : std::nullopt);
}

/// The width inside each layer's MLP: one number for all, or one for each.
void read_widths(const ConfigReader& reader, Architecture& a) {
    const char* key = "intermediate_size";
    const std::vector<std::int64_t> widths = reader.one_or_more(key, 1);
    const nlohmann::json* const value = reader.find(key);
    if (value != nullptr && value->is_array() && std::ssize(widths) != a.layers)
        reader.refuse(key, tr("gemma3n.width_per_layer", "a number, or a list of {} numbers", a.layers));
    a.d_ff = widths.empty() ? 16384 : std::ranges::max(widths);
    if (std::ranges::any_of(widths, [&](std::int64_t width) { return width != a.d_ff; }))
        a.d_ffs = widths;
}

/// The last layers have the keys and values of the last layer before them of the same type. Their own
/// matrices, which files may have, are not used.
void read_shared_keys(const ConfigReader& reader, const std::vector<bool>& slides, Architecture& a) {
    const char* key = "num_kv_shared_layers";
    const std::int64_t shared = reader.integer(key, 0).value_or(15), own = a.layers - shared;
    const auto last_of_type = [&](bool sliding) {
        std::int64_t l = own - 1;
        while (l >= 0 && slides[static_cast<std::size_t>(l)] != sliding)
            --l;
        return l;
    };
    for (std::int64_t l = 0; l < a.layers; ++l) {
        const std::int64_t of = l < own ? l : last_of_type(slides[static_cast<std::size_t>(l)]);
        if (of < 0)
            reader.refuse(key, tr("gemma3n.layer_of_each_type",
                                  "so small that a layer of each type comes before the layers that share "
                                  "keys and values"));
        a.key_layers.push_back(of);
        if (of == l)
            continue;
        for (const char* module : {"k_proj", "v_proj", "k_norm"})
            a.names.not_needed.push_back("layers." + std::to_string(l) + ".self_attn." + module + ".");
    }
    if (shared == 0)
        a.key_layers.clear();
}

StreamCopies read_copies(const ConfigReader& reader) {
    StreamCopies copies{.count = reader.size("altup_num_inputs", 4),
                        .active = reader.integer("altup_active_idx", 0).value_or(0),
                        .scales_active = reader.flag("altup_correct_scale", true),
                        .laurel_rank = reader.size("laurel_rank", 64),
                        .layer_width = reader.size("hidden_size_per_layer_input", 256),
                        .layer_rows = reader.size("vocab_size_per_layer_input", 262144)};
    if (copies.active >= copies.count)
        reader.refuse("altup_active_idx",
                      tr("gemma3n.below_copies", "below altup_num_inputs = {}", copies.count));
    return copies;
}

void add_names(Architecture& a, bool biased) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    a.names = llama_names({.qkv = biased, .out = biased});
    a.names.drop({norm2_weight});
    for (TensorName& row : a.names.body)
        if (row.weight == W_K || row.weight == W_V || row.weight == b_K || row.weight == b_V)
            row.layers = InLayers::own_keys;
    a.names.add({
        {"layers.{l}.self_attn.q_norm", vector, E::dk, E::none, q_norm},
        {.name = "layers.{l}.self_attn.k_norm",
         .layout = vector,
         .in = E::dk,
         .out = E::none,
         .weight = k_norm,
         .layers = InLayers::own_keys},
        {"layers.{l}.post_attention_layernorm", vector, E::D, E::none, norm1_after_weight},
        {"layers.{l}.pre_feedforward_layernorm", vector, E::D, E::none, norm2_weight},
        {"layers.{l}.post_feedforward_layernorm", vector, E::D, E::none, norm2_after_weight},
        {"layers.{l}.altup.router_norm", vector, E::D, E::none, router_norm},
        {"layers.{l}.altup.modality_router", linear, E::D, E::copies, W_copies},
        {"layers.{l}.altup.prediction_coefs", linear, E::copies, E::copies_squared, W_predict},
        {"layers.{l}.altup.correction_coefs", linear, E::copies, E::copies, W_correct},
        {"layers.{l}.laurel.linear_left", linear, E::D, E::laurel_rank, laurel_left},
        {"layers.{l}.laurel.linear_right", linear, E::laurel_rank, E::D, laurel_right},
        {"layers.{l}.laurel.post_laurel_norm", vector, E::D, E::none, laurel_norm},
        {"layers.{l}.per_layer_input_gate", linear, E::D, E::layer_width, W_layer_gate},
        {"layers.{l}.per_layer_projection", linear, E::layer_width, E::D, W_layer_out},
        {"layers.{l}.post_per_layer_input_norm", vector, E::D, E::none, layer_norm_weight},
        {"embed_tokens_per_layer", table, E::layer_rows, E::layer_widths, layer_table},
        {"per_layer_model_projection", linear, E::D, E::layer_widths, layer_projection},
        {"per_layer_projection_norm", vector, E::layer_width, E::none, layer_projection_norm},
    });
    const TensorName scale{active_scale, "layers.{l}.altup.correct_output_scale", vector, E::D, E::none};
    if (a.copies->scales_active)
        a.names.body.push_back(scale);
    else
        a.names.not_needed.emplace_back(".altup.correct_output_scale");
    if (a.copies->count > 1)
        a.names.add({
            {"altup_projections.{e}", copy_linears, E::D, E::D, copies_in},
            {"altup_unembed_projections.{e}", copy_linears, E::D, E::D, copies_out},
        });
}

} // namespace

/// Gemma 3n (Google 2025; Hugging Face's modeling_gemma3n.py): Gemma 3 with several copies of the residual
/// stream, a low-rank branch beside the attention, an embedding of each token in each layer, gates that are
/// mostly 0, norms of values, and keys and values that the last layers share.
Architecture read_gemma3n_text(const ConfigReader& reader) {
    const bool biased = reader.flag("attention_bias", false);
    Architecture a = read_sizes(reader, "gemma3n_text",
                                {.d_ff = nullptr,
                                 .norm_eps = "rms_norm_eps",
                                 .activation = "hidden_activation",
                                 .head_dim = "head_dim"},
                                {.layers = 35,
                                 .D = 2048,
                                 .H = 8,
                                 .vocab = 262400,
                                 .max_positions = 32768,
                                 .head_dim = 256,
                                 .norm_eps = 1e-6,
                                 .activation = "gelu_pytorch_tanh"});
    set_pre_norm_decoder(a);
    a.norm = NormKind::rms;
    a.norms.after_branch = true;
    a.embedding_scale = static_cast<double>(std::sqrt(static_cast<float>(a.D)));
    read_grouped_heads(reader, 2, a);
    read_widths(reader, a);
    a.score_scale = 1.0;
    a.qk_norm = QkNorm::per_head;
    a.value_norm = true;
    a.logit_cap =
        reader.says_null("final_logit_softcapping") ? 0.0 : reader.positive("final_logit_softcapping", 30.0);
    if (reader.says_null("sliding_window"))
        reader.refuse("sliding_window", tr("gemma3n.window", "a number of tokens, at least 1"));
    if (!reader.flag("is_causal", true))
        reader.refuse("is_causal", tr("gemma3n.true_causal", "true, the only kind computed here"));
    constexpr std::int64_t every = 5;
    read_windows(
        reader, 512, [](std::int64_t l) { return (l + 1) % every != 0; }, a);
    std::vector<bool> slides;
    for (const auto& window : a.windows)
        slides.push_back(window.has_value());
    read_rope_kinds(reader, {.full = "rope_theta", .usual_full = 1e6, .sliding = "rope_local_base_freq"}, a);
    a.copies = read_copies(reader);
    add_names(a, biased);
    read_sparsity(reader, a);
    read_shared_keys(reader, slides, a);
    return a;
}

} // namespace headscope::checkpoint
