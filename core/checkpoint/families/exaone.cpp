#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

/// A Llama with a norm on each query and key head, and norms on what attention and MLP return in place of
/// those on what they read. Where layers have windows, only those have rotary positions (LG AI Research 2025,
/// "EXAONE 4.0").
Architecture read_exaone4(const ConfigReader& reader) {
    using enum TensorId;
    using E = Extent;
    Architecture a = read_llama_like(reader, {.family = "exaone4",
                                              .defaults = {.layers = 32,
                                                           .D = 4096,
                                                           .H = 32,
                                                           .d_ff = 16384,
                                                           .vocab = 102400,
                                                           .max_positions = 2048,
                                                           .activation = "silu",
                                                           .tied = false},
                                              .Hkv = 32});
    a.norms.before = false;
    a.norms.after_branch = true;
    a.qk_norm = QkNorm::per_head;
    // A pattern of letters stands beside layer_types.
    const std::int64_t every = reader.has("layer_types") ? 1 : reader.size("sliding_window_pattern", 4);
    read_windows(
        reader, 4096, [every](std::int64_t l) { return (l + 1) % every != 0; }, a);
    if (!reader.says_null("sliding_window"))
        turn_only_in_windows(a);
    a.names.drop({norm1_weight, norm2_weight});
    a.names.add({
        {"layers.{l}.post_attention_layernorm", Layout::vector, E::D, E::none, norm1_after_weight},
        {"layers.{l}.post_feedforward_layernorm", Layout::vector, E::D, E::none, norm2_after_weight},
        {"layers.{l}.self_attn.q_norm", Layout::vector, E::dk, E::none, q_norm},
        {"layers.{l}.self_attn.k_norm", Layout::vector, E::dk, E::none, k_norm},
    });
    return a;
}

} // namespace headscope::checkpoint
