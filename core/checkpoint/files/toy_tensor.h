#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::checkpoint {

/// A tensor that a toy model's description names: a text, or {"tensor": text, "axes": "H D dk", "rows":
/// [first, end]} for another order of the axes and a part of the first axis. "{l}" stands for the layer.
struct ToyName {
    std::string tensor, axes;
    std::optional<std::pair<std::int64_t, std::int64_t>> rows;

    /// Throws Error(input) with `source` for other JSON.
    ToyName(const nlohmann::json& named, std::int64_t layer, const std::string& source);
    /// Sets the first extent to that of the rows. Throws Error(input) if they are not in the tensor.
    void check_rows(std::vector<std::int64_t>& extents, const std::string& source) const;
};

/// A change of the order of axes, some of which are joined or split.
struct ToyPermutation {
    std::vector<std::int64_t> split;  ///< extents of the tensor with each joined axis split
    std::vector<std::size_t> order;   ///< of these axes in the result
    std::vector<std::int64_t> result; ///< extents of the result, with axes joined
    TensorPtr apply(const Tensor& tensor,
                    const std::optional<std::pair<std::int64_t, std::int64_t>>& rows) const;
};

/// The sizes of a toy model, learned from its tensors as they are named: H, K (key and value heads), D, dk,
/// d_ff, vocab, out, T.
class ToyAxes {
public:
    void set_heads(std::optional<std::int64_t> H, std::optional<std::int64_t> K);
    /// The change from axes spelled as `from`, such as "H D dk" or "D H*dk", to `to`. Learns sizes from the
    /// extents. Throws Error(input) with `where` if they do not fit.
    ToyPermutation match(const std::string& from, const std::string& to,
                         const std::vector<std::int64_t>& extents, const std::string& where);
    std::optional<std::int64_t> find(const std::string& axis) const;
    std::int64_t at(const std::string& axis) const { return find(axis).value_or(1); }

private:
    void learn(const std::string& axis, std::int64_t extent, const std::string& where);
    std::map<std::string, std::int64_t> sizes_;
    bool own_key_heads_ = false; ///< the description gives K, or a tensor had K as an axis
};

} // namespace headscope::checkpoint
