#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

/// Mistral with a mixture of experts in place of each MLP (Jiang et al. 2024, "Mixtral of Experts"): the
/// softmax over all experts, of which the largest fractions are scaled to add up to 1.
Architecture read_mixtral(const ConfigReader& reader) {
    Architecture a = read_llama_like(reader, {.family = "mixtral",
                                              .defaults = {.layers = 32,
                                                           .D = 4096,
                                                           .H = 32,
                                                           .d_ff = 14336,
                                                           .vocab = 32000,
                                                           .max_positions = 131072,
                                                           .norm_eps = 1e-5,
                                                           .activation = "silu",
                                                           .tied = false},
                                              .Hkv = 8,
                                              .rope = {.usual_theta = 1e6, .whole = true}});
    read_one_window(reader, std::nullopt, a);
    a.experts = reader.size("num_local_experts", reader.size("num_experts", 8));
    a.d_expert = a.d_ff;
    a.route = {.used = used_experts(reader, "num_experts_per_tok", 2, a.experts),
               .score = graph::Route::Score::softmax,
               .sum_to_one = true};
    set_mixture({.router = "block_sparse_moe.gate.weight",
                 .gate = "block_sparse_moe.experts.{e}.w1.weight",
                 .in = "block_sparse_moe.experts.{e}.w3.weight",
                 .out = "block_sparse_moe.experts.{e}.w2.weight"},
                a);
    return a;
}

} // namespace headscope::checkpoint
