#include "core/trace/stage.h"

#include <algorithm>

namespace headscope {

namespace {

using enum TensorId;
using A = Axis;
using Op = Operation;
using G = StageGroup;

constexpr std::array<Axis, 4> axes(A a, A b = A::none, A c = A::none, A d = A::none) {
    return {a, b, c, d};
}

constexpr std::array<TensorInfo, tensor_count> table{{
    {x, "x", "Token vectors", "X", G::x, axes(A::B, A::Tq, A::D), Op::given, {}, 0, "one row per token"},
    {q,
     "q",
     "Queries",
     "Q",
     G::qkv,
     axes(A::B, A::Tq, A::H_dk),
     Op::projection,
     {x, W_Q, b_Q},
     3,
     "Q = X W_Q + b_Q"},
    {k,
     "k",
     "Keys",
     "K",
     G::qkv,
     axes(A::B, A::Tk, A::Hkv_dk),
     Op::projection,
     {x, W_K, b_K},
     3,
     "K = X W_K + b_K"},
    {v,
     "v",
     "Values",
     "V",
     G::qkv,
     axes(A::B, A::Tk, A::Hkv_dv),
     Op::projection,
     {x, W_V, b_V},
     3,
     "V = X W_V + b_V"},
    {q_heads,
     "q_heads",
     "Queries by head",
     "Q_h",
     G::split,
     axes(A::B, A::H, A::Tq, A::dk),
     Op::copy,
     {q},
     1,
     "q_heads[h] = q[:, h·dk : (h+1)·dk]"},
    {k_heads,
     "k_heads",
     "Keys by head",
     "K_h",
     G::split,
     axes(A::B, A::Hkv, A::Tk, A::dk),
     Op::copy,
     {k},
     1,
     "k_heads[h] = k[:, h·dk : (h+1)·dk]"},
    {v_heads,
     "v_heads",
     "Values by head",
     "V_h",
     G::split,
     axes(A::B, A::Hkv, A::Tk, A::dv),
     Op::copy,
     {v},
     1,
     "v_heads[h] = v[:, h·dv : (h+1)·dv]"},
    {scores,
     "scores",
     "Scores",
     "S",
     G::scores,
     axes(A::B, A::H, A::Tq, A::Tk),
     Op::dot_product,
     {q_heads, k_heads},
     2,
     "scores[h] = q_heads[h] · k_heads[h]ᵀ"},
    {scaled,
     "scaled",
     "Scaled scores",
     "S / √dk",
     G::scaled,
     axes(A::B, A::H, A::Tq, A::Tk),
     Op::scale,
     {scores},
     1,
     "scaled = scores ÷ √dk"},
    {masked,
     "masked",
     "Masked scores",
     "S + M",
     G::masked,
     axes(A::B, A::H, A::Tq, A::Tk),
     Op::mask,
     {scaled, mask},
     2,
     "masked = scaled where allowed, else −∞"},
    {weights,
     "weights",
     "Attention weights",
     "A",
     G::weights,
     axes(A::B, A::H, A::Tq, A::Tk),
     Op::softmax,
     {masked},
     1,
     "weights = softmax(masked), one row per query token"},
    {weights_mean,
     "weights_mean",
     "Mean over heads",
     "Ā",
     G::weights,
     axes(A::B, A::Tq, A::Tk),
     Op::mean,
     {weights},
     1,
     "weights_mean = mean of weights[h] over h"},
    {head_out,
     "head_out",
     "Head outputs",
     "O_h",
     G::head_out,
     axes(A::B, A::H, A::Tq, A::dv),
     Op::value_sum,
     {weights, v_heads},
     2,
     "head_out[h] = weights[h] · v_heads[h]"},
    {concat,
     "concat",
     "Concatenation",
     "O",
     G::concat,
     axes(A::B, A::Tq, A::H_dv),
     Op::copy,
     {head_out, gain},
     2,
     "concat = [head_out[0], head_out[1], …]"},
    {contributions,
     "contributions",
     "Contributions",
     "C_h",
     G::contributions,
     axes(A::B, A::H, A::Tq, A::D),
     Op::projection,
     {head_out, W_O, gain},
     3,
     "contributions[h] = head_out[h] · W_O[rows of h]"},
    {output,
     "output",
     "Output projection",
     "Y",
     G::output,
     axes(A::B, A::Tq, A::D),
     Op::projection,
     {concat, W_O, b_O},
     3,
     "output = concat · W_O + b_O"},
    {x_kv, "x_kv", "Key and value source", "X_kv", G::none, axes(A::B, A::Tk, A::Dkv), Op::given, {}, 0, ""},
    {W_Q, "W_Q", "Query weights", "W_Q", G::none, axes(A::D, A::H_dk), Op::given, {}, 0, ""},
    {W_K, "W_K", "Key weights", "W_K", G::none, axes(A::Dkv, A::Hkv_dk), Op::given, {}, 0, ""},
    {W_V, "W_V", "Value weights", "W_V", G::none, axes(A::Dkv, A::Hkv_dv), Op::given, {}, 0, ""},
    {W_O, "W_O", "Output weights", "W_O", G::none, axes(A::H_dv, A::D), Op::given, {}, 0, ""},
    {b_Q, "b_Q", "Query bias", "b_Q", G::none, axes(A::H_dk), Op::given, {}, 0, ""},
    {b_K, "b_K", "Key bias", "b_K", G::none, axes(A::Hkv_dk), Op::given, {}, 0, ""},
    {b_V, "b_V", "Value bias", "b_V", G::none, axes(A::Hkv_dv), Op::given, {}, 0, ""},
    {b_O, "b_O", "Output bias", "b_O", G::none, axes(A::D), Op::given, {}, 0, ""},
    {mask, "mask", "Mask", "M", G::none, axes(A::B, A::H, A::Tq, A::Tk), Op::given, {}, 0, ""},
    {gain, "gain", "Head gains", "g_h", G::none, axes(A::H), Op::given, {}, 0, ""},
}};

constexpr std::array<GroupInfo, group_count> groups{{
    {G::x, "x", "Token vectors", x},
    {G::qkv, "q k v", "Queries, keys and values", q},
    {G::split, "split", "Split into heads", q_heads},
    {G::scores, "scores", "Scores", scores},
    {G::scaled, "scaled", "Scaled scores", scaled},
    {G::masked, "masked", "Masked scores", masked},
    {G::weights, "weights", "Attention weights", weights},
    {G::head_out, "head_out", "Head outputs", head_out},
    {G::concat, "concat", "Concatenation", concat},
    {G::contributions, "contributions", "Contributions of the heads", contributions},
    {G::output, "output", "Output projection", output},
}};

std::optional<TensorId> find_among(std::string_view name, std::size_t count) {
    const auto rows = std::span(table).first(count);
    const auto row = std::ranges::find(rows, name, &TensorInfo::name);
    return row == rows.end() ? std::nullopt : std::optional(row->id);
}

/// The spans that one cell of X W + b reads.
std::vector<ReadSpan> projection_reads(TensorId left, TensorId W, TensorId b, const Index& at,
                                       std::int64_t width) {
    return {
        {left, {at[0], at[1], 0, 0}, 2, width}, {W, {0, at[2], 0, 0}, 0, width}, {b, {at[2], 0, 0, 0}, 0, 1}};
}

} // namespace

int TensorInfo::rank() const {
    return static_cast<int>(std::ranges::find(axes, Axis::none) - axes.begin());
}

Shape TensorInfo::shape(const Dims& dims) const {
    switch (rank()) {
    case 1:
        return {extent(axes[0], dims)};
    case 2:
        return {extent(axes[0], dims), extent(axes[1], dims)};
    case 3:
        return {extent(axes[0], dims), extent(axes[1], dims), extent(axes[2], dims)};
    default:
        return {extent(axes[0], dims), extent(axes[1], dims), extent(axes[2], dims), extent(axes[3], dims)};
    }
}

const TensorInfo& tensor_info(TensorId id) {
    return table[static_cast<std::size_t>(id)];
}

const GroupInfo& group_info(StageGroup group) {
    return groups[static_cast<std::size_t>(group)];
}

std::span<const TensorInfo> stage_table() {
    return std::span(table).first(stage_count);
}

std::optional<TensorId> find_tensor(std::string_view name) {
    return find_among(name, tensor_count);
}

std::optional<TensorId> find_stage(std::string_view name) {
    return find_among(name, stage_count);
}

std::vector<ReadSpan> cells_read(TensorId stage, const Dims& dims, const Index& at, bool cross) {
    const TensorId source = cross ? x_kv : x;
    switch (stage) {
    case q:
        return projection_reads(x, W_Q, b_Q, at, dims.D);
    case k:
        return projection_reads(source, W_K, b_K, at, dims.Dkv);
    case v:
        return projection_reads(source, W_V, b_V, at, dims.Dkv);
    case q_heads:
        return {{q, {at[0], at[2], at[1] * dims.dk + at[3], 0}, 2, 1}};
    case k_heads:
        return {{k, {at[0], at[2], at[1] * dims.dk + at[3], 0}, 2, 1}};
    case v_heads:
        return {{v, {at[0], at[2], at[1] * dims.dv + at[3], 0}, 2, 1}};
    case scores:
        return {{q_heads, {at[0], at[1], at[2], 0}, 3, dims.dk},
                {k_heads, {at[0], dims.kv_head(at[1]), at[3], 0}, 3, dims.dk}};
    case scaled:
        return {{scores, at, 3, 1}};
    case masked:
        return {{scaled, at, 3, 1}, {mask, at, 3, 1}};
    case weights:
        return {{masked, {at[0], at[1], at[2], 0}, 3, dims.Tk}};
    case weights_mean:
        return {{weights, {at[0], 0, at[1], at[2]}, 1, dims.H}};
    case head_out:
        return {{weights, {at[0], at[1], at[2], 0}, 3, dims.Tk},
                {v_heads, {at[0], dims.kv_head(at[1]), 0, at[3]}, 2, dims.Tk}};
    case concat:
        return {{head_out, {at[0], at[2] / dims.dv, at[1], at[2] % dims.dv}, 3, 1},
                {gain, {at[2] / dims.dv, 0, 0, 0}, 0, 1}};
    case contributions:
        return {{head_out, {at[0], at[1], at[2], 0}, 3, dims.dv},
                {W_O, {at[1] * dims.dv, at[3], 0, 0}, 0, dims.dv},
                {gain, {at[1], 0, 0, 0}, 0, 1}};
    case output:
        return projection_reads(concat, W_O, b_O, at, dims.H * dims.dv);
    default:
        return {};
    }
}

} // namespace headscope
