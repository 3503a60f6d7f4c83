#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

/// Returns for each layer if it is local. attention_layers lists it; without that key attention_types does, a
/// list of [pattern, times] such as [[["global", "local"], 12]].
std::vector<bool> local_layers(const ConfigReader& reader, std::int64_t layers) {
    const char* key = "attention_types";
    std::vector<bool> local;
    if (const char* listed = "attention_layers"; reader.has(listed)) {
        for (const std::string& type : reader.texts(listed)) {
            if (type != "global" && type != "local")
                reader.refuse(listed, tr("gpt_neo.list_times_global_local",
                                         "a list of {} entries, global or local", layers));
            local.push_back(type == "local");
        }
        if (static_cast<std::int64_t>(local.size()) != layers)
            reader.refuse(listed, tr("gpt_neo.list_times_global_local",
                                     "a list of {} entries, global or local", layers));
        return local;
    }
    const std::string wanted =
        tr("gpt_neo.list_global_local_times",
           "a list of [[\"global\" or \"local\", ...], count] that makes {} layers", layers);
    const nlohmann::json* const types = reader.find(key);
    if (types == nullptr) { // global and local in turn
        for (std::int64_t l = 0; l < layers; ++l)
            local.push_back(l % 2 == 1);
        return local;
    }
    if (!types->is_array())
        reader.refuse(key, wanted);
    for (const nlohmann::json& part : *types) {
        if (!part.is_array() || part.size() != 2 || !part[0].is_array() || part[0].empty() ||
            !part[1].is_number_unsigned() || part[1].get<std::uint64_t>() > most_layers)
            reader.refuse(key, wanted);
        for (std::uint64_t time = 0; time < part[1].get<std::uint64_t>(); ++time)
            for (const nlohmann::json& type : part[0]) {
                if ((type != "global" && type != "local") ||
                    static_cast<std::int64_t>(local.size()) == layers)
                    reader.refuse(key, wanted);
                local.push_back(type == "local");
            }
    }
    if (static_cast<std::int64_t>(local.size()) != layers)
        reader.refuse(key, wanted);
    return local;
}

} // namespace

Architecture read_gpt_neo(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(
        reader, "gpt_neo",
        {.layers = "num_layers",
         .H = "num_heads",
         .norm_eps = "layer_norm_epsilon",
         .activation = "activation_function"},
        {.layers = 24, .D = 2048, .H = 16, .vocab = 50257, .max_positions = 2048, .activation = "gelu_new"});
    set_pre_norm_decoder(a);
    set_learned_positions(a);
    a.word_token_types = true;
    a.score_scale = 1.0;
    const std::vector<bool> local = local_layers(reader, a.layers);
    const std::int64_t window = reader.size("window_size", 256);
    for (std::size_t l = 0; l < local.size(); ++l)
        if (local[l])
            a.windows[l] = window;
    a.names = {.body = tensors_of({
                   {"wte", table, E::vocab, E::D, W_E},
                   {"wpe", table, E::positions, E::D, W_P},
                   {"ln_f", vector, E::D, E::none, final_norm_weight, final_norm_bias},
                   {"h.{l}.ln_1", vector, E::D, E::none, norm1_weight, norm1_bias},
                   {"h.{l}.attn.attention.q_proj", linear, E::D, E::H_dk, W_Q},
                   {"h.{l}.attn.attention.k_proj", linear, E::D, E::Hkv_dk, W_K},
                   {"h.{l}.attn.attention.v_proj", linear, E::D, E::Hkv_dk, W_V},
                   {"h.{l}.attn.attention.out_proj", linear, E::H_dk, E::D, W_O, b_O},
                   {"h.{l}.ln_2", vector, E::D, E::none, norm2_weight, norm2_bias},
                   {"h.{l}.mlp.c_fc", linear, E::D, E::d_ff, W_in, b_in},
                   {"h.{l}.mlp.c_proj", linear, E::d_ff, E::D, W_out, b_out},
               }),
               .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}}),
               .prefixes = {"transformer.", ""},
               .not_needed = {".attn.attention.bias", ".attn.attention.masked_bias"}};
    return a;
}

} // namespace headscope::checkpoint
