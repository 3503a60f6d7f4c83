#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_opt(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, "opt",
                                {.d_ff = "ffn_dim", .norm_eps = nullptr, .activation = "activation_function"},
                                {.d_ff = 3072, .vocab = 50272, .max_positions = 2048, .activation = "relu"});
    if (reader.size("word_embed_proj_dim", a.D) != a.D)
        reader.refuse("word_embed_proj_dim",
                      tr("opt.hidden_size_projections_embeddings",
                         "hidden_size, as projections of embeddings are not computed here"));
    a.causal = true;
    a.norms.before = reader.flag("do_layer_norm_before", true);
    a.norms.after_sum = !a.norms.before;
    a.final_norm = a.norms.before && !reader.flag("_remove_final_layer_norm", false);
    a.position_offset = 2;
    a.position_rows = a.max_positions + a.position_offset;
    a.position_count = PositionCount::real_tokens;
    const bool biased = reader.flag("enable_bias", true);
    const auto bias = [&](TensorId id) { return biased ? std::optional(id) : std::nullopt; };
    a.names = {.body = tensors_of({
                   {"embed_tokens", table, E::vocab, E::D, W_E},
                   {"embed_positions", table, E::positions, E::D, W_P},
                   {"layers.{l}.self_attn_layer_norm", vector, E::D, E::none, norm1_weight, norm1_bias},
                   {"layers.{l}.self_attn.q_proj", linear, E::D, E::H_dk, W_Q, bias(b_Q)},
                   {"layers.{l}.self_attn.k_proj", linear, E::D, E::Hkv_dk, W_K, bias(b_K)},
                   {"layers.{l}.self_attn.v_proj", linear, E::D, E::Hkv_dk, W_V, bias(b_V)},
                   {"layers.{l}.self_attn.out_proj", linear, E::H_dk, E::D, W_O, bias(b_O)},
                   {"layers.{l}.final_layer_norm", vector, E::D, E::none, norm2_weight, norm2_bias},
                   {"layers.{l}.fc1", linear, E::D, E::d_ff, W_in, bias(b_in)},
                   {"layers.{l}.fc2", linear, E::d_ff, E::D, W_out, bias(b_out)},
               }),
               .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}}),
               .prefixes = {"model.decoder.", "decoder.", ""},
               .not_needed = {}};
    if (a.final_norm)
        a.names.add({{"final_layer_norm", vector, E::D, E::none, final_norm_weight, final_norm_bias}});
    if (!reader.flag("layer_norm_elementwise_affine", true))
        a.names.drop(
            {norm1_weight, norm1_bias, norm2_weight, norm2_bias, final_norm_weight, final_norm_bias});
    return a;
}

} // namespace headscope::checkpoint
