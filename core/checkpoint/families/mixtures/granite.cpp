#include "core/checkpoint/families/common.h"
#include "core/checkpoint/graph/stack_text.h"

namespace headscope::checkpoint {

namespace {

/// Llama with constants that multiply the embedding, the scores and what each branch adds to the residual
/// stream, and one that divides the logits (IBM 2024, "Granite 3.0 Language Models", section 2).
Architecture read_granite_like(const ConfigReader& reader, const char* family, bool mlp_bias) {
    const bool biased = reader.flag("attention_bias", false);
    Architecture a = read_llama_like(reader,
                                     {.family = family,
                                      .defaults = {.layers = 32,
                                                   .D = 4096,
                                                   .H = 32,
                                                   .d_ff = 11008,
                                                   .vocab = 32000,
                                                   .max_positions = 2048,
                                                   .norm_eps = 1e-6,
                                                   .activation = "silu",
                                                   .tied = false}},
                                     {.qkv = biased, .out = biased, .mlp = mlp_bias});
    a.embedding_scale = reader.positive("embedding_multiplier", 1.0);
    a.score_scale = reader.positive("attention_multiplier", 1.0);
    a.branch_scale = reader.positive("residual_multiplier", 1.0);
    a.head_scale = 1.0 / reader.positive("logits_scaling", 1.0);
    return a;
}

} // namespace

Architecture read_granite(const ConfigReader& reader) {
    return read_granite_like(reader, "granite", reader.flag("mlp_bias", false));
}

/// Granite with a mixture of experts in place of each MLP; the gate's rows of a tensor come first.
Architecture read_granitemoe(const ConfigReader& reader) {
    using enum TensorId;
    using E = Extent;
    Architecture a = read_granite_like(reader, "granitemoe", false);
    a.experts = reader.size("num_local_experts", 8);
    a.d_expert = a.d_ff;
    a.route.used = used_experts(reader, "num_experts_per_tok", 2, a.experts);
    a.expert_gate_in = GatePacking::gate_first;
    a.expert_gate = {.function = a.activation};
    a.names.drop({W_gate, W_in, W_out});
    const std::string mixture = "layers.{l}.block_sparse_moe.";
    for (const TensorName& row :
         {TensorName{W_router, mixture + "router.layer.weight", Layout::linear, E::D, E::experts},
          TensorName{experts_gate_in, mixture + "input_linear.weight", Layout::experts_linear, E::D,
                     E::two_d_expert},
          TensorName{expert_W_out, mixture + "output_linear.weight", Layout::experts_linear, E::d_expert,
                     E::D}})
        a.names.body.push_back(row);
    return a;
}

} // namespace headscope::checkpoint
