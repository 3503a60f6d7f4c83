#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headscope {

/// The sizes that describe one multi-head attention problem. These names are the only ones used for
/// dimensions anywhere in the program.
struct Dims {
    std::int64_t B = 1;   ///< batch
    std::int64_t Tq = 0;  ///< query tokens
    std::int64_t Tk = 0;  ///< key tokens; equals Tq in self-attention
    std::int64_t D = 0;   ///< d_model: width of x and of the output
    std::int64_t Dkv = 0; ///< width of the key/value source; equals D in self-attention
    std::int64_t H = 0;   ///< query heads
    std::int64_t Hkv =
        0; ///< key/value heads; divides H (H: multi-head, 1: multi-query, between: grouped-query)
    std::int64_t dk = 0;          ///< width of one query/key head
    std::int64_t dv = 0;          ///< width of one value head
    std::int64_t d_ff = 0;        ///< width inside the MLP of a checkpoint's layer; 0: there is none
    std::int64_t vocab = 0;       ///< tokens that a checkpoint knows; 0 likewise
    std::int64_t positions = 0;   ///< rows of a checkpoint's table of positions; 0: it has none
    std::int64_t token_types = 0; ///< rows of its table of token types; 0 likewise
    std::int64_t experts = 0;     ///< MLPs of a checkpoint's layer of which a token uses some; 0: one for all

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
    Dkv,
    H,
    Hkv,
    dk,
    dv,
    H_dk,
    Hkv_dk,
    Hkv_dv,
    H_dv,
    d_ff,       ///< width inside the MLP of a checkpoint's layer
    experts,    ///< MLPs of a layer, of which a token uses some
    vocab,      ///< tokens that a checkpoint knows
    positions,  ///< rows of a checkpoint's table of positions
    token_types ///< rows of its table of token types
};
constexpr std::size_t axis_count = static_cast<std::size_t>(Axis::token_types) + 1;

/// What an axis is called and counts.
struct AxisRow {
    Axis axis;
    std::string_view name; ///< shown to the user: "Tq", "H·dk"
    /// Its extent is their product; null counts as 1.
    std::int64_t Dims::*size;
    std::int64_t Dims::*times;
};
const AxisRow& axis_row(Axis axis);

std::int64_t extent(Axis axis, const Dims& dims);
inline std::string axis_name(Axis axis) {
    return std::string(axis_row(axis).name);
}
/// Those of a tensor, before the first that is none: "B, Tq, D".
std::string axis_names(std::span<const Axis> axes);

} // namespace headscope
