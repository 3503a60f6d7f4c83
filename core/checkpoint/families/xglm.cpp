#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <cmath>

namespace headscope::checkpoint {

/// A decoder like mBART's, of many languages (Lin et al. 2021).
Architecture read_xglm(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a =
        read_sizes(reader, "xglm",
                   {.layers = "num_layers",
                    .D = "d_model",
                    .H = "attention_heads",
                    .d_ff = "ffn_dim",
                    .norm_eps = nullptr,
                    .activation = "activation_function"},
                   {.layers = 24, .D = 1024, .H = 16, .d_ff = 4096, .vocab = 256008, .max_positions = 2048});
    constexpr std::int64_t least = 4; // the frequencies are steps to the last one
    if (a.D < least)
        reader.refuse("d_model",
                      tr("xglm.least_for_sines", "at least {}, for the sines of positions", least));
    set_pre_norm_decoder(a);
    a.sinusoids = Sinusoids::to_last;
    a.position_offset = 2;
    a.position_rows = a.max_positions + a.position_offset;
    a.pad_id = reader.integer("pad_token_id", 0).value_or(1);
    if (reader.flag("scale_embedding", true))
        a.embedding_scale = std::sqrt(static_cast<double>(a.D));
    a.names = {.body = tensors_of({
                   {"embed_tokens", table, E::vocab, E::D, W_E},
                   {"layer_norm", vector, E::D, E::none, final_norm_weight, final_norm_bias},
                   {"layers.{l}.self_attn_layer_norm", vector, E::D, E::none, norm1_weight, norm1_bias},
                   {"layers.{l}.self_attn.q_proj", linear, E::D, E::H_dk, W_Q, b_Q},
                   {"layers.{l}.self_attn.k_proj", linear, E::D, E::Hkv_dk, W_K, b_K},
                   {"layers.{l}.self_attn.v_proj", linear, E::D, E::Hkv_dk, W_V, b_V},
                   {"layers.{l}.self_attn.out_proj", linear, E::H_dk, E::D, W_O, b_O},
                   {"layers.{l}.final_layer_norm", vector, E::D, E::none, norm2_weight, norm2_bias},
                   {"layers.{l}.fc1", linear, E::D, E::d_ff, W_in, b_in},
                   {"layers.{l}.fc2", linear, E::d_ff, E::D, W_out, b_out},
               }),
               .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}}),
               .prefixes = {"model.", ""},
               .not_needed = {"embed_positions.weights"}};
    return a;
}

} // namespace headscope::checkpoint
