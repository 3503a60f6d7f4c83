#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headscope {

/// The dimensions of one multi-head attention problem. The whole program uses these names.
struct Dims {
    std::int64_t B = 1;           ///< batch
    std::int64_t Tq = 0;          ///< query tokens
    std::int64_t Tk = 0;          ///< key tokens; equals Tq in self-attention
    std::int64_t D = 0;           ///< d_model: width of the output, and of x unless Dq says otherwise
    std::int64_t Dkv = 0;         ///< width of the key/value source; equals D in self-attention
    std::int64_t H = 0;           ///< query heads
    std::int64_t Hkv = 0;         ///< key/value heads; divides H (H: MHA, 1: MQA, between: GQA)
    std::int64_t dk = 0;          ///< width of one query/key head
    std::int64_t dv = 0;          ///< width of one value head
    std::int64_t d_ff = 0;        ///< width of the MLP's hidden layer in a checkpoint; 0: there is no MLP
    std::int64_t vocab = 0;       ///< vocabulary size of a checkpoint; 0: there is none
    std::int64_t positions = 0;   ///< rows of a checkpoint's position table; 0: there is none
    std::int64_t token_types = 0; ///< rows of a checkpoint's token type table; 0: there is none
    std::int64_t d_expert = 0;    ///< width of each expert's hidden layer; 0: there are none
    std::int64_t d_embed = 0;     ///< width of a checkpoint's embeddings, D in most
    /// experts of a checkpoint's layer, of which a token uses some; 0: one MLP for all tokens
    std::int64_t experts = 0;
    std::int64_t Dq = 0; ///< width of x where queries come from a latent vector; 0: D
    /// The heads of a checkpoint's delta layers, the heads whose queries and keys they share, and the widths
    /// of a query or key and of a value; 0: there are no such layers.
    std::int64_t delta_H = 0, delta_Hqk = 0, delta_dk = 0, delta_dv = 0;
    std::int64_t distances = 0; ///< rows of the table of relative positions; 0: there is none

    /// The key/value head that query head h reads: floor(h / (H / Hkv)).
    std::int64_t kv_head(std::int64_t h) const { return h / (H / Hkv); }
    bool operator==(const Dims&) const = default;
};

/// One axis of a named tensor: a dimension or a product of two.
enum class Axis : std::uint8_t {
    none,
    B,
    Tq,
    Tk,
    D,
    Dq, ///< width of x: D, unless queries come from a latent vector
    Dkv,
    H,
    Hkv,
    dk,
    dv,
    H_dk,
    Hkv_dk,
    Hkv_dv,
    H_dv,
    d_ff,        ///< width of the MLP's hidden layer in a checkpoint
    d_expert,    ///< width of an expert's hidden layer
    experts,     ///< experts of a layer, of which a token uses some
    vocab,       ///< vocabulary of a checkpoint
    positions,   ///< rows of a checkpoint's position table
    token_types, ///< rows of a checkpoint's token type table
    d_embed,     ///< width of a checkpoint's embeddings, D in most
    // Of delta layers.
    delta_H,
    delta_Hqk,
    delta_dk,
    delta_dv,
    delta_Hqk_dk,
    delta_H_dv,
    distances ///< rows of the table of relative positions
};
constexpr std::size_t axis_count = static_cast<std::size_t>(Axis::distances) + 1;

/// The name and the extent of an axis.
struct AxisRow {
    Axis axis;
    std::string_view name; ///< shown to the user: "Tq", "H·dk"
    /// The extent is the product of both dimensions; null counts as 1.
    std::int64_t Dims::*size;
    std::int64_t Dims::*times;
};
const AxisRow& axis_row(Axis axis);

std::int64_t extent(Axis axis, const Dims& dims);
/// Its name: of Dq "D" where both are the same.
std::string axis_name(Axis axis, const Dims& dims);
/// The names of a tensor's axes, up to the first Axis::none: "B, Tq, D".
std::string axis_names(std::span<const Axis> axes, const Dims& dims);

} // namespace headscope
