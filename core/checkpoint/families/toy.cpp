#include "core/checkpoint/families/common.h"

#include "core/base/message.h"

#include <algorithm>

namespace headscope::checkpoint {

/// A model that a user describes by a small JSON file, see toy_model.h, which makes this configuration.
Architecture read_toy(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, "toy", {.norm_eps = "norm_eps", .head_dim = "head_dim"},
                                {.layers = 1, .D = 1, .H = 1, .vocab = 1, .max_positions = 1, .tied = false});
    read_grouped_heads(reader, 0, a);
    a.causal = reader.flag("causal", true);
    const std::string norm = reader.text("norm", "layer");
    const std::vector<std::string> own = reader.texts("block_tensors"),
                                   around = reader.texts("around_tensors");
    const auto has = [](const std::vector<std::string>& names, const char* name) {
        return std::ranges::find(names, name) != names.end();
    };
    a.norm = norm == "rms" ? NormKind::rms : NormKind::layer;
    const bool after = reader.flag("norm_after", false);
    a.norms.before = norm != "none" && !after;
    a.norms.after_sum = norm != "none" && after;
    // Norms without weights stand at the end too; one with weights is named.
    a.final_norm = norm != "none" && (has(around, "final_norm") || (!after && !has(own, "norm1")));
    if (const auto scale = reader.number("scale"))
        a.score_scale = *scale;
    struct Row {
        const char* name;
        TensorId weight;
        Layout layout;
        Extent in, out = Extent::none;
        bool of_block = true, always = false;
    };
    constexpr std::array rows{Row{"W_Q", W_Q, conv1d, E::D, E::H_dk},
                              Row{"W_K", W_K, conv1d, E::D, E::Hkv_dk},
                              Row{"W_V", W_V, conv1d, E::D, E::Hkv_dk},
                              Row{"W_O", W_O, conv1d, E::H_dk, E::D},
                              Row{"b_Q", b_Q, vector, E::H_dk},
                              Row{"b_K", b_K, vector, E::Hkv_dk},
                              Row{"b_V", b_V, vector, E::Hkv_dk},
                              Row{"b_O", b_O, vector, E::D},
                              Row{"norm1", norm1_weight, vector, E::D},
                              Row{"norm1_bias", norm1_bias, vector, E::D},
                              Row{"norm2", norm2_weight, vector, E::D},
                              Row{"norm2_bias", norm2_bias, vector, E::D},
                              Row{"W_in", W_in, conv1d, E::D, E::d_ff, true, true},
                              Row{"b_in", b_in, vector, E::d_ff},
                              Row{"W_gate", W_gate, conv1d, E::D, E::d_ff},
                              Row{"W_out", W_out, conv1d, E::d_ff, E::D, true, true},
                              Row{"b_out", b_out, vector, E::D},
                              Row{"W_E", W_E, table, E::vocab, E::D, false, true},
                              Row{"W_P", W_P, table, E::positions, E::D, false},
                              Row{"final_norm", final_norm_weight, vector, E::D, E::none, false},
                              Row{"final_norm_bias", final_norm_bias, vector, E::D, E::none, false}};
    for (const Row& row : rows)
        if (row.always || has(row.of_block ? own : around, row.name))
            a.names.body.push_back({row.weight, std::string(row.of_block ? "layers.{l}." : "") + row.name,
                                    row.layout, row.in, row.out});
    a.names.head = {{W_U, "W_U", table, E::vocab, E::D}};
    if (has(around, "b_U"))
        a.names.head.push_back({b_U, "b_U", vector, E::vocab, E::none});
    a.names.prefixes = {""};
    if (has(around, "W_P"))
        set_learned_positions(a);
    return a;
}

} // namespace headscope::checkpoint
