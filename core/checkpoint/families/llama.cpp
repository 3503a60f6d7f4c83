#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_llama(const ConfigReader& reader) {
    const bool attention = reader.flag("attention_bias", false), mlp = reader.flag("mlp_bias", false);
    return read_llama_like(reader,
                           {.family = "llama",
                            .defaults = {.layers = 32,
                                         .D = 4096,
                                         .H = 32,
                                         .d_ff = 11008,
                                         .vocab = 32000,
                                         .max_positions = 2048,
                                         .norm_eps = 1e-6,
                                         .activation = "silu",
                                         .tied = false}},
                           {.qkv = attention, .out = attention, .mlp = mlp});
}

} // namespace headscope::checkpoint
