#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

/// Gives layers chunks and takes the rotary positions from some. In spite of the key's name 1 stands for a
/// layer with rotary positions. Masks follow layer_types; where that is missing, layers with rotary positions
/// have chunks.
void read_layer_kinds(const ConfigReader& reader, Architecture& a) {
    const char* key = "no_rope_layers";
    const std::vector<std::int64_t> turns = reader.integers(key, 0);
    if (!turns.empty() && static_cast<std::int64_t>(turns.size()) < a.layers)
        reader.refuse(key, tr("smollm3.list_number_each_layers",
                              "a list of numbers, one for each of {} layers", a.layers));
    const std::int64_t every = turns.empty() ? reader.size("no_rope_layer_interval", 4) : 1;
    for (std::int64_t l = 0; l < a.layers; ++l) {
        const auto at = static_cast<std::size_t>(l);
        if (turns.empty() ? (l + 1) % every == 0 : turns[at] == 0)
            a.layer_rope[at] = std::nullopt;
    }
    const char* types_key = "layer_types";
    const std::vector<std::string> types = reader.texts(types_key);
    const auto is_known = [](const std::string& type) {
        return type == "chunked_attention" || type == "full_attention";
    };
    if (reader.has(types_key) && (std::ssize(types) != a.layers || !std::ranges::all_of(types, is_known)))
        reader.refuse(types_key, tr("llama4.list_of_chunked_or_full",
                                    "a list of {} entries, full_attention or chunked_attention", a.layers));
    if (reader.says_null("attention_chunk_size"))
        return;
    const std::int64_t chunk = reader.size("attention_chunk_size", 8192);
    for (std::int64_t l = 0; l < a.layers; ++l) {
        const auto at = static_cast<std::size_t>(l);
        if (types.empty() ? a.has_rotary(l) : types[at] == "chunked_attention")
            a.chunks[at] = chunk;
    }
}

/// Returns true for true, and for numbers other than 0: first releases wrote 4.
bool read_tuning(const ConfigReader& reader) {
    const char* key = "attn_temperature_tuning";
    const nlohmann::json* const value = reader.find(key);
    return value != nullptr && value->is_number() ? *reader.number(key) != 0 : reader.flag(key, true);
}

/// By layer, whether it has experts: those that moe_layers lists, or one of each interleave_moe_layer_step.
std::vector<bool> read_mixtures(const ConfigReader& reader, std::int64_t layers) {
    std::vector<bool> mixtures(static_cast<std::size_t>(layers));
    const char* key = "moe_layers";
    if (reader.has(key)) {
        for (const std::int64_t l : reader.integers(key, 0))
            if (l < layers)
                mixtures[static_cast<std::size_t>(l)] = true;
        return mixtures;
    }
    const std::int64_t every = reader.size("interleave_moe_layer_step", 1);
    for (std::int64_t l = every - 1; l < layers; l += every)
        mixtures[static_cast<std::size_t>(l)] = true;
    return mixtures;
}

/// The names of Llama with its MLP under another name.
void name_feed_forward(NameMap& names) {
    const std::string own = ".mlp.";
    for (TensorName& row : names.body)
        if (const std::size_t at = row.name.find(own); at != std::string::npos)
            row.name.replace(at, own.size(), ".feed_forward.");
}

/// Experts of one tensor each for gates and inputs, and for outputs, and an MLP for all tokens of their
/// width.
void read_experts(const ConfigReader& reader, Architecture& a) {
    using enum TensorId;
    using E = Extent;
    a.experts = reader.size("num_local_experts", 16);
    a.d_expert = a.d_shared = reader.size("intermediate_size", 8192);
    a.route = {.used = used_experts(reader, "num_experts_per_tok", 1, a.experts),
               .score = graph::Route::Score::sigmoid};
    a.expert_input.scaled_input = true;
    set_mixture({.router = "feed_forward.router.weight",
                 .gate = "",
                 .in = "",
                 .out = "",
                 .shared = "feed_forward.shared_expert"},
                a);
    a.names.drop({expert_W_gate, expert_W_in, expert_W_out});
    a.expert_gate_in = GatePacking::gate_first;
    const std::string experts = "layers.{l}.feed_forward.experts.";
    const auto add = [&](TensorId weight, const std::string& name, Extent in, Extent out) {
        a.names.body.push_back({.weight = weight,
                                .name = experts + name,
                                .layout = Layout::experts,
                                .in = in,
                                .out = out,
                                .layers = InLayers::mixtures});
    };
    add(experts_gate_in, "gate_up_proj", E::D, E::two_d_expert);
    add(expert_W_out, "down_proj", E::d_expert, E::D);
}

} // namespace

/// Llama whose layers alternate: most rotate queries and keys, norm them and attend within chunks; the others
/// do none of it but scale queries by their position (Meta 2025, "The Llama 4 herd"; Hugging Face's
/// modeling_llama4.py). Some layers or all have a mixture in place of the MLP, where the sigmoid of the
/// router multiplies what an expert reads.
Architecture read_llama4_text(const ConfigReader& reader) {
    const bool biased = reader.flag("attention_bias", false);
    if (!reader.flag("is_causal", true))
        reader.refuse("is_causal", tr("llama4.true_causal", "true, as chunks are causal"));
    Architecture a = read_llama_like(reader,
                                     {.family = "llama4_text",
                                      .defaults = {.layers = 48,
                                                   .D = 5120,
                                                   .H = 40,
                                                   .d_ff = 8192,
                                                   .vocab = 202048,
                                                   .max_positions = 131072,
                                                   .head_dim = 128,
                                                   .norm_eps = 1e-5,
                                                   .activation = "silu",
                                                   .tied = false},
                                      .Hkv = 8,
                                      .rope = {.usual_theta = 500000.0, .whole = true}},
                                     {.qkv = biased, .out = biased});
    a.d_ff = reader.size("intermediate_size_mlp", 16384);
    a.rotary_pairs = RotaryPairs::neighbours;
    read_layer_kinds(reader, a);
    if (reader.flag("use_qk_norm", true)) {
        // Norms without weights and rotations may change places as long as the rotation keeps lengths.
        if (a.ropes.front().scaling.attention_factor != 1.0)
            reader.refuse(reader.has("rope_scaling") ? "rope_scaling" : "rope_parameters",
                          tr("llama4.rotation_keeps_lengths",
                             "of a type that keeps the lengths of queries and keys, such as llama3, as "
                             "use_qk_norm is true"));
        a.qk_norm = QkNorm::per_head_plain;
    }
    if (read_tuning(reader))
        a.query_scale = {.factor = reader.number("attn_scale").value_or(0.1),
                         .span = reader.size("floor_scale", 8192)};
    name_feed_forward(a.names);
    a.mixtures = read_mixtures(reader, a.layers);
    if (std::ranges::find(a.mixtures, true) != a.mixtures.end())
        read_experts(reader, a);
    return a;
}

} // namespace headscope::checkpoint
