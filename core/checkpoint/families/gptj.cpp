#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_gptj(const ConfigReader& reader) {
    using enum WeightId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, "gptj",
                                {.layers = "n_layer",
                                 .D = "n_embd",
                                 .H = "n_head",
                                 .d_ff = "n_inner",
                                 .max_positions = "n_positions",
                                 .norm_eps = "layer_norm_epsilon",
                                 .activation = "activation_function"},
                                {.layers = 28,
                                 .D = 4096,
                                 .H = 16,
                                 .vocab = 50400,
                                 .max_positions = 2048,
                                 .activation = "gelu_new",
                                 .tied = false});
    set_pre_norm_decoder(a);
    a.word_token_types = true;
    a.residual = Residual::parallel_one_norm;
    a.rotary_width = reader.says_null("rotary_dim") ? 0 : reader.size("rotary_dim", 64);
    if (a.rotary_width < 2 || a.rotary_width % 2 != 0 || a.rotary_width > a.dk || a.dk % 2 != 0)
        reader.refuse("rotary_dim",
                      tr("gptj.even_2_width_head", "even, from 2 to the width of a head, {}", a.dk));
    a.rotary_pairs = RotaryPairs::neighbours;
    a.ropes = {Rope()};
    a.layer_rope.assign(a.layer_rope.size(), 0);
    a.names = {.body = tensors_of({
                   {"wte", table, E::vocab, E::D, word_table},
                   {"ln_f", vector, E::D, E::none, final_norm_weight, final_norm_bias},
                   {"h.{l}.ln_1", vector, E::D, E::none, norm1_weight, norm1_bias},
                   {"h.{l}.attn.q_proj", linear, E::D, E::H_dk, W_Q},
                   {"h.{l}.attn.k_proj", linear, E::D, E::Hkv_dk, W_K},
                   {"h.{l}.attn.v_proj", linear, E::D, E::Hkv_dk, W_V},
                   {"h.{l}.attn.out_proj", linear, E::H_dk, E::D, W_O},
                   {"h.{l}.mlp.fc_in", linear, E::D, E::d_ff, mlp_in, mlp_in_bias},
                   {"h.{l}.mlp.fc_out", linear, E::d_ff, E::D, mlp_out, mlp_out_bias},
               }),
               .head = tensors_of({{"lm_head", table, E::vocab, E::D, output_table, output_bias}}),
               .prefixes = {"transformer.", ""},
               .not_needed = {".attn.bias", ".attn.masked_bias"}};
    return a;
}

} // namespace headscope::checkpoint
