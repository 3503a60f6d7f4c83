#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_phi3(const ConfigReader& reader) {
    Architecture a = read_llama_like(reader, {.family = "phi3",
                                              .defaults = {.layers = 32,
                                                           .D = 3072,
                                                           .H = 32,
                                                           .d_ff = 8192,
                                                           .vocab = 32064,
                                                           .max_positions = 4096,
                                                           .norm_eps = 1e-5,
                                                           .activation = "silu",
                                                           .tied = false},
                                              .rope = {.usual_original = 4096}});
    read_one_window(reader, std::nullopt, a);
    a.qkv = QkvPacking::side_by_side;
    using enum TensorId;
    a.names.drop({W_Q, W_K, W_V});
    a.names.add({{"layers.{l}.self_attn.qkv_proj", Layout::linear, Extent::D, Extent::QKV, W_QKV}});
    use_fused_gate(a);
    return a;
}

} // namespace headscope::checkpoint
