#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

namespace {

Architecture read_gptj_like(const ConfigReader& reader, const char* family) {
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
                   {"wte", table, E::vocab, E::D, W_E},
                   {"ln_f", vector, E::D, E::none, final_norm_weight, final_norm_bias},
                   {"h.{l}.ln_1", vector, E::D, E::none, norm1_weight, norm1_bias},
                   {"h.{l}.attn.q_proj", linear, E::D, E::H_dk, W_Q},
                   {"h.{l}.attn.k_proj", linear, E::D, E::Hkv_dk, W_K},
                   {"h.{l}.attn.v_proj", linear, E::D, E::Hkv_dk, W_V},
                   {"h.{l}.attn.out_proj", linear, E::H_dk, E::D, W_O},
                   {"h.{l}.mlp.fc_in", linear, E::D, E::d_ff, W_in, b_in},
                   {"h.{l}.mlp.fc_out", linear, E::d_ff, E::D, W_out, b_out},
               }),
               .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U, b_U}}),
               .prefixes = {"transformer.", ""},
               .not_needed = {".attn.bias", ".attn.masked_bias"}};
    return a;
}

} // namespace

Architecture read_gptj(const ConfigReader& reader) {
    return read_gptj_like(reader, "gptj");
}

/// GPT-J for programs, with queries, keys and values in one tensor (Nijkamp et al. 2022).
Architecture read_codegen(const ConfigReader& reader) {
    using enum TensorId;
    Architecture a = read_gptj_like(reader, "codegen");
    constexpr std::int64_t quarters = 4;
    if (a.H % quarters != 0)
        reader.refuse(reader.has("num_attention_heads") ? "num_attention_heads" : "n_head",
                      tr("gptj.multiple_four_blocks", "a multiple of {}", quarters));
    a.qkv = QkvPacking::quarters;
    a.names.drop({W_Q, W_K, W_V});
    a.names.add({{"h.{l}.attn.qkv_proj", Layout::linear, Extent::D, Extent::QKV, W_QKV}});
    return a;
}

} // namespace headscope::checkpoint
