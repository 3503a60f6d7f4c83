#include "core/checkpoint/families/common.h"
#include "core/checkpoint/families/rope_config.h"

namespace headscope::checkpoint {

Architecture read_phi(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, "phi", {.head_dim = "head_dim"},
                                {.layers = 24,
                                 .D = 2048,
                                 .H = 32,
                                 .d_ff = 8192,
                                 .vocab = 51200,
                                 .max_positions = 2048,
                                 .activation = "gelu_new",
                                 .tied = false});
    set_pre_norm_decoder(a);
    read_grouped_heads(reader, 0, a);
    a.residual = Residual::parallel_one_norm;
    if (reader.flag("qk_layernorm", false))
        a.qk_norm = QkNorm::per_head_layer;
    read_rope(reader, {.usual_part = 0.5}, a);
    a.names = {.body = tensors_of({
                   {"embed_tokens", table, E::vocab, E::D, W_E},
                   {"final_layernorm", vector, E::D, E::none, final_norm_weight, final_norm_bias},
                   {"layers.{l}.input_layernorm", vector, E::D, E::none, norm1_weight, norm1_bias},
                   {"layers.{l}.self_attn.q_proj", linear, E::D, E::H_dk, W_Q, b_Q},
                   {"layers.{l}.self_attn.k_proj", linear, E::D, E::Hkv_dk, W_K, b_K},
                   {"layers.{l}.self_attn.v_proj", linear, E::D, E::Hkv_dk, W_V, b_V},
                   {"layers.{l}.self_attn.dense", linear, E::H_dk, E::D, W_O, b_O},
                   {"layers.{l}.mlp.fc1", linear, E::D, E::d_ff, W_in, b_in},
                   {"layers.{l}.mlp.fc2", linear, E::d_ff, E::D, W_out, b_out},
               }),
               .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U, b_U}}),
               .prefixes = {"model.", ""},
               .not_needed = {"rotary_emb.inv_freq"}};
    return a;
}

} // namespace headscope::checkpoint
