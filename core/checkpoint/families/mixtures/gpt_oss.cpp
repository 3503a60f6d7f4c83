#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <cmath>

namespace headscope::checkpoint {

namespace {

/// What the family's configuration class takes where a file says nothing of rotary positions.
RopeScaling usual_scaling() {
    const double factor = 32.0;
    return {.kind = RopeScaling::Kind::yarn,
            .factor = factor,
            .original_max_positions = 4096.0,
            .whole_pairs = false,
            .attention_factor = 0.1 * std::log(factor) + 1.0,
            .short_factors = {},
            .long_factors = {}};
}

} // namespace

/// Llama's frame with a sink in every head, and in place of each MLP a mixture of experts.
Architecture read_gpt_oss(const ConfigReader& reader) {
    using enum TensorId;
    using E = Extent;
    const bool biased = reader.flag("attention_bias", true);
    Architecture a = read_llama_like(reader,
                                     {.family = "gpt_oss",
                                      .defaults = {.layers = 36,
                                                   .D = 2880,
                                                   .H = 64,
                                                   .d_ff = 2880,
                                                   .vocab = 201088,
                                                   .max_positions = 131072,
                                                   .head_dim = 64,
                                                   .norm_eps = 1e-5,
                                                   .activation = "silu",
                                                   .tied = false},
                                      .Hkv = 8,
                                      .rope = {.usual_theta = 150000.0, .whole = true}},
                                     {.qkv = biased, .out = biased});
    if (!reader.has("rope_scaling") && !reader.says_null("rope_scaling") && !reader.has("rope_parameters"))
        a.ropes.front().scaling = usual_scaling();
    read_windows(
        reader, 128, [](std::int64_t l) { return l % 2 == 0; }, a);
    a.experts = reader.size("num_local_experts", reader.size("num_experts", 128));
    a.d_expert = a.d_ff;
    const char* used = reader.has("experts_per_token") && !reader.has("num_experts_per_tok")
                           ? "experts_per_token"
                           : "num_experts_per_tok";
    a.route.used = used_experts(reader, used, 4, a.experts);
    a.expert_gate = {.function = graph::Function::gelu_quick, .limit = 7.0, .offset = 1.0};
    a.names.drop({W_gate, W_in, W_out});
    a.names.add({{"layers.{l}.mlp.router", Layout::linear, E::D, E::experts, W_router, b_router}});
    const std::string experts = "layers.{l}.mlp.experts.";
    for (const TensorName& row : {
             TensorName{sink, "layers.{l}.self_attn.sinks", Layout::vector, E::H, E::none},
             TensorName{experts_gate_in, experts + "gate_up_proj", Layout::experts, E::D, E::two_d_expert},
             TensorName{experts_gate_in_bias, experts + "gate_up_proj_bias", Layout::expert_vectors,
                        E::two_d_expert, E::none},
             TensorName{expert_W_out, experts + "down_proj", Layout::experts, E::d_expert, E::D},
             TensorName{expert_b_out, experts + "down_proj_bias", Layout::expert_vectors, E::D, E::none},
         })
        a.names.body.push_back(row);
    return a;
}

} // namespace headscope::checkpoint
