#include "core/checkpoint/families/common.h"
#include "core/checkpoint/families/rope_config.h"

namespace headscope::checkpoint {

Architecture read_gpt_neox(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, "gpt_neox", {},
                                {.layers = 44,
                                 .D = 6144,
                                 .H = 64,
                                 .d_ff = 24576,
                                 .vocab = 50432,
                                 .max_positions = 2048,
                                 .tied = false});
    set_pre_norm_decoder(a);
    if (reader.flag("use_parallel_residual", true))
        a.residual = Residual::parallel;
    a.qkv = QkvPacking::by_head;
    read_rope(reader, {.theta = "rotary_emb_base", .part = "rotary_pct", .usual_part = 0.25}, a);
    const bool biased = reader.flag("attention_bias", true);
    const auto bias = [&](TensorId id) { return biased ? std::optional(id) : std::nullopt; };
    a.names = {.body = tensors_of({
                   {"embed_in", table, E::vocab, E::D, W_E},
                   {"final_layer_norm", vector, E::D, E::none, final_norm_weight, final_norm_bias},
                   {"layers.{l}.input_layernorm", vector, E::D, E::none, norm1_weight, norm1_bias},
                   {"layers.{l}.attention.query_key_value", linear, E::D, E::QKV, W_QKV, bias(b_QKV)},
                   {"layers.{l}.attention.dense", linear, E::H_dk, E::D, W_O, bias(b_O)},
                   {"layers.{l}.post_attention_layernorm", vector, E::D, E::none, norm2_weight, norm2_bias},
                   {"layers.{l}.mlp.dense_h_to_4h", linear, E::D, E::d_ff, W_in, b_in},
                   {"layers.{l}.mlp.dense_4h_to_h", linear, E::d_ff, E::D, W_out, b_out},
               }),
               .head = tensors_of({{"embed_out", table, E::vocab, E::D, W_U}}),
               .prefixes = {"gpt_neox.", ""},
               .not_needed = {".attention.bias", ".attention.masked_bias", "rotary_emb.inv_freq"}};
    return a;
}

} // namespace headscope::checkpoint
