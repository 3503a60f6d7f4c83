#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <algorithm>

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
    // Hugging Face's class has one window for all layers and only warns of this key.
    const std::vector<std::string> types = reader.texts("layer_types");
    if (std::ranges::any_of(types, [&](const std::string& type) { return type != types.front(); }))
        reader.refuse("layer_types", tr("mistral.absent_mistral_models_same",
                                        "absent: mistral models have the same window in every layer"));
    read_one_window(reader, 4096, a);
    return a;
}

} // namespace headscope::checkpoint
