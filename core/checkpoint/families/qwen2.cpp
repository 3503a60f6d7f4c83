#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_qwen2(const ConfigReader& reader) {
    Architecture a = read_llama_like(reader,
                                     {.family = "qwen2",
                                      .defaults = {.layers = 32,
                                                   .D = 4096,
                                                   .H = 32,
                                                   .d_ff = 22016,
                                                   .vocab = 151936,
                                                   .max_positions = 32768,
                                                   .norm_eps = 1e-6,
                                                   .activation = "silu",
                                                   .tied = false},
                                      .Hkv = 32},
                                     {.qkv = true});
    read_qwen_windows(reader, a);
    return a;
}

} // namespace headscope::checkpoint
