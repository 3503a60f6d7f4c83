#pragma once

#include "core/attention/problem.h"
#include "core/tensor/tensor.h"
#include "core/trace/stage.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::analysis {

/// How one tensor differs between two problems of the same sizes, A and B. Norms, counts and the largest
/// change are those of one batch entry, where the tensor has a batch axis.
struct TensorDifference {
    /// B − A in the tensor's own shape, all batch entries. Where a score is masked, as IEEE 754 subtracts:
    /// NaN in both, +infinity in A only, −infinity in B only; every other cell is finite.
    TensorPtr cells;
    double norm = 0;                 ///< Frobenius norm of the finite cells
    std::vector<double> head_norms;  ///< the same per head (or key/value head); empty without a head axis
    std::int64_t changed = 0;        ///< cells that are not exactly the same
    std::int64_t masked_in_one = 0;  ///< of those, cells masked in A only or in B only
    std::optional<Index> largest_at; ///< the finite cell that changed most, the first of equals
    float largest = 0;               ///< its change, with its sign
};

/// `a` and `b` have the shape that the stage table gives `id` for `dims`; throws Error(internal) otherwise.
/// 0 <= batch < dims.B. Heads own blocks of the axis that counts heads, or head-wide columns or rows, as
/// Weights says.
TensorDifference difference(TensorId id, const Tensor& a, const Tensor& b, const Dims& dims,
                            std::int64_t batch);

/// Why B cannot be subtracted from A cell by cell: "A has H 2, B has H 4." Empty when it can.
std::string why_not_comparable(const Problem& a, const Problem& b);

/// Whether the same places hold other words, so that cells are compared by place alone.
bool words_differ(const Problem& a, const Problem& b);

} // namespace headscope::analysis
