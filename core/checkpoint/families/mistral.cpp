#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_mistral(const ConfigReader& reader) {
    Architecture a = read_llama_like(reader, {.family = "mistral",
                                              .defaults = {.layers = 32,
                                                           .D = 4096,
                                                           .H = 32,
                                                           .d_ff = 14336,
                                                           .vocab = 32000,
                                                           .max_positions = 131072,
                                                           .norm_eps = 1e-6,
                                                           .activation = "silu",
                                                           .tied = false},
                                              .Hkv = 8});
    read_windows(
        reader, 4096, [](std::int64_t) { return true; }, a);
    return a;
}

} // namespace headscope::checkpoint
