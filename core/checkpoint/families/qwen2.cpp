#include "core/checkpoint/families/common.h"
#include "core/checkpoint/families/families.h"

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
    if (reader.flag("use_sliding_window", false)) {
        const std::int64_t first = reader.integer("max_window_layers", 0).value_or(28);
        read_windows(
            reader, 4096, [first](std::int64_t l) { return l >= first; }, a);
    }
    return a;
}

} // namespace headscope::checkpoint
