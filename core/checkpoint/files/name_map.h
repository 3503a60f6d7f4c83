#pragma once

#include "core/checkpoint/files/config.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::checkpoint {

/// Every weight of a model, whatever its family calls it. Those from W_QKV on exist once per layer.
enum class Slot : std::uint8_t {
    words,
    positions,
    token_types,
    embedding_gain,
    embedding_shift,
    final_gain,
    final_shift,
    head_dense,
    head_dense_bias,
    head_gain,
    head_shift,
    head,
    head_bias,
    W_QKV, ///< W_Q, W_K and W_V side by side
    b_QKV,
    W_Q,
    W_K,
    W_V,
    W_O,
    b_Q,
    b_K,
    b_V,
    b_O,
    attention_gain,
    attention_shift,
    mlp_gain,
    mlp_shift,
    mlp_gate,
    mlp_gate_bias,
    mlp_in,
    mlp_in_bias,
    mlp_out,
    mlp_out_bias
};
inline constexpr int slot_count = 33;
inline bool is_per_layer(Slot slot) {
    return slot >= Slot::W_QKV;
}

/// How the numbers lie in the file.
enum class Layout : std::uint8_t {
    vector, ///< (n)
    table,  ///< (rows, D), as we use it
    conv1d, ///< (d_in, d_out), as we use it
    linear  ///< (d_out, d_in): transposed when it is read
};

/// Whose size an axis has.
enum class Extent : std::uint8_t { none, D, H_dk, Hkv_dk, QKV, d_ff, vocab, positions, token_types };

/// When a checkpoint must have the tensor.
enum class Need : std::uint8_t { always, attention_bias, attention_out_bias, mlp_bias, untied };

/// One row of a family's table.
struct TensorName {
    Slot slot;
    std::string_view name; ///< after the prefix; "{l}" stands for the layer
    Layout layout;
    Extent in;  ///< d_in, or rows of a table, or the length of a vector
    Extent out; ///< d_out; none for vectors
    Need need = Need::always;
};

/// What a family's tensors are called.
struct NameMap {
    std::span<const TensorName> body;       ///< names after one of `prefixes`
    std::span<const TensorName> head;       ///< full names
    std::vector<std::string_view> prefixes; ///< as saved with a head, and without one
    std::vector<std::string_view>
        not_needed;                    ///< parts of the names of tensors that the forward pass has no use for
    std::string_view head_bias_twin{}; ///< full: what a file may call the head's bias instead
};

const NameMap& name_map(ModelFamily family);

/// Whether this model has the tensor at all.
bool is_needed(const TensorName& row, const ModelConfig& config);
std::int64_t extent_of(Extent extent, const ModelConfig& config);
/// The extents in the file, outermost first.
std::vector<std::int64_t> file_extents(const TensorName& row, const ModelConfig& config);
/// prefix + name, with the number of the layer in its place.
std::string full_name(const TensorName& row, std::string_view prefix, std::int64_t layer);

} // namespace headscope::checkpoint
