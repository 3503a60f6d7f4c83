#pragma once

#include "core/checkpoint/architecture/layout.h"
#include "core/checkpoint/weights/weights.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::checkpoint {

struct Architecture;

/// How a file holds the projections of queries, keys and values.
enum class QkvPacking : std::uint8_t {
    separate,
    side_by_side, ///< all of Q, then all of K, then all of V
    by_head,      ///< for each key head the queries that read it, the key and the value
    quarters      ///< for each quarter of the heads their queries, their values and their keys
};
enum class QkvPart : std::uint8_t { queries, keys, values };

/// How a file holds mlp_gate and mlp_in.
enum class GatePacking : std::uint8_t {
    separate,
    gate_first, ///< all of the gate, then all of the other
    in_turn     ///< one column of each
};

/// The layers that have a tensor.
enum class InLayers : std::uint8_t {
    all,
    dense,    ///< those with one MLP for all tokens
    mixtures, ///< those with experts
    attention,
    delta,   ///< those with a delta layer in place of attention
    own_keys ///< those that make their keys and values of their own input
};

/// One tensor of a family.
struct TensorName {
    TensorId weight;
    std::string name; ///< after the prefix; "{l}" stands for the layer
    Layout layout;
    Extent in;             ///< d_in, or rows of a table, or the length of a vector
    Extent out;            ///< d_out; none for vectors
    bool may_lack = false; ///< a file without it means zeros
    InLayers layers = InLayers::all;
    std::int64_t shared_by = 1; ///< as many layers after each other have the same tensor; "{l}" stands for
                                ///< the layer divided by it
};

/// A PyTorch module: the tensors name.weight and, where it has one, name.bias.
struct ModuleName {
    std::string_view name;
    Layout layout;
    Extent in, out;
    TensorId weight;
    std::optional<TensorId> bias{};
    InLayers layers = InLayers::all;
};
std::vector<TensorName> tensors_of(std::initializer_list<ModuleName> modules);

/// What a model's tensors are called.
struct NameMap {
    std::vector<TensorName> body;           ///< names after one of `prefixes`
    std::vector<TensorName> head;           ///< full names
    std::vector<std::string_view> prefixes; ///< as saved with a head, and without one
    std::vector<std::string> not_needed;    ///< parts of the names of tensors that a run does not use
    /// Full names that a file may use instead: of tensors that share memory it may keep any one.
    std::vector<std::pair<TensorId, std::string>> twins{};
    /// Of a decoder with an encoder: each layer's cross-attention, as W_Q to b_O with norm1, and its MLP.
    std::vector<TensorName> cross{};
    void add(std::initializer_list<ModuleName> to_body);
    void drop(std::initializer_list<TensorId> from_body);
};

/// Where a part is in a tensor that holds queries, keys and values: `count` columns from `first` on, and as
/// many in each of the blocks that follow, `stride` columns apart.
struct PackedColumns {
    std::int64_t first = 0, count = 0, blocks = 1, stride = 0;
};
PackedColumns columns_of(QkvPart part, const Architecture& architecture);

/// The tensor that holds a weight of a delta layer together with others, and where the weight is in it; empty
/// for other weights.
struct DeltaColumns {
    TensorId whole;
    PackedColumns columns;
};
std::optional<DeltaColumns> delta_columns(TensorId weight, const Architecture& architecture);

/// Null when the rows have no such tensor.
const TensorName* find_row(const std::vector<TensorName>& rows, TensorId weight);
/// The row of layer l; null when that layer has no such tensor.
const TensorName* find_row(const std::vector<TensorName>& rows, TensorId weight,
                           const Architecture& architecture, std::int64_t l);
/// Whether this model has the tensor at all: a tied head has no table of its own.
bool is_needed(const TensorName& row, const Architecture& architecture);
/// Whether layer l has it.
bool is_in_layer(const TensorName& row, const Architecture& architecture, std::int64_t l);
/// layer: of weights inside layers of several widths.
std::int64_t extent_of(Extent extent, const Architecture& architecture, std::int64_t layer = 0);
/// The extents in the file, outermost first.
std::vector<std::int64_t> file_extents(const TensorName& row, const Architecture& architecture,
                                       std::int64_t layer = 0);
/// The number of tensors that hold one weight: of experts, or of copies of the residual stream, one each.
std::int64_t tensors_per_weight(const TensorName& row, const Architecture& architecture);
/// The name with a number in place of the mark, if it has one: "{l}" or "{e}".
std::string with_number(std::string name, std::string_view mark, std::int64_t number);
/// prefix + name, with the number of the layer in its place.
std::string full_name(const TensorName& row, std::string_view prefix, std::int64_t layer);
/// Same; of experts with tensors of their own one name for each.
std::vector<std::string> full_names(const TensorName& row, std::string_view prefix, std::int64_t layer,
                                    const Architecture& architecture);

} // namespace headscope::checkpoint
