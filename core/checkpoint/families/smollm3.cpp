#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_smollm3(const ConfigReader& reader) {
    const bool attention = reader.flag("attention_bias", false), mlp = reader.flag("mlp_bias", false);
    Architecture a = read_llama_like(reader,
                                     {.family = "smollm3",
                                      .defaults = {.layers = 36,
                                                   .D = 2048,
                                                   .H = 16,
                                                   .d_ff = 11008,
                                                   .vocab = 128256,
                                                   .max_positions = 32768,
                                                   .norm_eps = 1e-6,
                                                   .activation = "silu"},
                                      .Hkv = 4,
                                      .rope = {.usual_theta = 2e6, .whole = true}},
                                     {.qkv = attention, .out = attention, .mlp = mlp});
    // In spite of the key's name 1 stands for a layer with rotary positions.
    const char* key = "no_rope_layers";
    const std::int64_t every = reader.size("no_rope_layer_interval", 4);
    const std::vector<std::int64_t> turns = reader.integers(key, 0);
    if (reader.has(key) && static_cast<std::int64_t>(turns.size()) < a.layers)
        reader.refuse(key, tr("smollm3.list_number_each_layers",
                              "a list of numbers, one for each of {} layers", a.layers));
    for (std::int64_t l = 0; l < a.layers; ++l) {
        const auto at = static_cast<std::size_t>(l);
        if (turns.empty() ? (l + 1) % every == 0 : turns[at] == 0)
            a.layer_rope[at] = std::nullopt;
    }
    // Masks follow layer_types where it is given; the flag decides what a missing list would say.
    if (reader.flag("use_sliding_window", false) || reader.has("layer_types"))
        read_windows(
            reader, std::nullopt,
            [&](std::int64_t l) { return !a.layer_rope[static_cast<std::size_t>(l)].has_value(); }, a);
    return a;
}

} // namespace headscope::checkpoint
