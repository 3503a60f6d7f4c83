#include "core/checkpoint/checks/description.h"

#include "core/checkpoint/architecture/architecture.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

using nlohmann::ordered_json;

ordered_json described(const Model& model) {
    const Architecture& c = model.architecture();
    const auto list = [](const auto& sizes) {
        ordered_json all = ordered_json::array();
        for (const auto& size : sizes)
            all.push_back(size ? ordered_json(*size) : ordered_json(nullptr));
        return all;
    };
    ordered_json json{{"layers", c.layers},
                      {"D", c.D},
                      {"H", c.H},
                      {"Hkv", c.Hkv},
                      {"dk", c.dk},
                      {"d_ff", c.d_ff},
                      {"experts", c.experts},
                      {"experts_used", c.experts > 0 ? c.route.used : 0},
                      {"vocab", c.vocab},
                      {"max_positions", c.max_positions},
                      {"embedding_width", c.embed_width()},
                      {"layers_with_same_weights", c.layers_sharing},
                      {"sliding_window", list(c.windows)}};
    if (std::ranges::any_of(c.chunks, [](const auto& chunk) { return chunk.has_value(); }))
        json["attention_chunk_size"] = list(c.chunks);
    if (c.copies)
        json["residual_stream_copies"] = c.copies->count;
    if (!c.key_layers.empty())
        json["key_value_layers"] = c.key_layers;
    if (!c.d_ffs.empty())
        json["d_ff_by_layer"] = c.d_ffs;
    return json;
}

} // namespace headscope::checkpoint
