#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

namespace {

/// What GPT-2 and GPT BigCode share, with the layout that the file has for matrices.
Architecture read_gpt2_like(const ConfigReader& reader, const char* family, const char* activation,
                            Layout matrix) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, family,
                                {.layers = "n_layer",
                                 .D = "n_embd",
                                 .H = "n_head",
                                 .d_ff = "n_inner",
                                 .max_positions = "n_positions",
                                 .norm_eps = "layer_norm_epsilon",
                                 .activation = "activation_function"},
                                {.vocab = 50257, .max_positions = 1024, .activation = activation});
    set_pre_norm_decoder(a);
    set_learned_positions(a);
    a.word_token_types = true;
    a.qkv = QkvPacking::side_by_side;
    if (!reader.flag("scale_attn_weights", true))
        a.score_scale = 1.0;
    a.names = {.body = tensors_of({
                   {"wte", table, E::vocab, E::D, W_E},
                   {"wpe", table, E::positions, E::D, W_P},
                   {"ln_f", vector, E::D, E::none, final_norm_weight, final_norm_bias},
                   {"h.{l}.ln_1", vector, E::D, E::none, norm1_weight, norm1_bias},
                   {"h.{l}.attn.c_attn", matrix, E::D, E::QKV, W_QKV, b_QKV},
                   {"h.{l}.attn.c_proj", matrix, E::H_dk, E::D, W_O, b_O},
                   {"h.{l}.ln_2", vector, E::D, E::none, norm2_weight, norm2_bias},
                   {"h.{l}.mlp.c_fc", matrix, E::D, E::d_ff, W_in, b_in},
                   {"h.{l}.mlp.c_proj", matrix, E::d_ff, E::D, W_out, b_out},
               }),
               .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}}),
               .prefixes = {"transformer.", ""},
               .not_needed = {".attn.bias", ".attn.masked_bias"}};
    return a;
}

} // namespace

Architecture read_gpt2(const ConfigReader& reader) {
    Architecture a = read_gpt2_like(reader, "gpt2", "gelu_new", Layout::conv1d);
    a.divide_by_layer = reader.flag("scale_attn_by_inverse_layer_idx", false);
    return a;
}

/// GPT-2 whose queries all read one key and value head (Ben Allal et al. 2023, "SantaCoder").
Architecture read_gpt_bigcode(const ConfigReader& reader) {
    Architecture a = read_gpt2_like(reader, "gpt_bigcode", "gelu_pytorch_tanh", Layout::linear);
    if (reader.flag("multi_query", true))
        a.Hkv = 1;
    else
        a.qkv = QkvPacking::by_head;
    return a;
}

/// nanoGPT and minGPT (Karpathy 2020, 2022): GPT-2 with nn.Linear, also without biases. The program makes
/// this configuration of a state dictionary, see state_dict.h.
Architecture read_nanogpt(const ConfigReader& reader) {
    using enum TensorId;
    Architecture a = read_gpt2_like(reader, "nanogpt", "gelu", Layout::linear);
    a.word_token_types = false;
    if (!reader.flag("bias", true))
        a.names.drop({final_norm_bias, norm1_bias, norm2_bias, b_QKV, b_O, b_in, b_out});
    return a;
}

} // namespace headscope::checkpoint
