#pragma once

#include "core/graph/operation.h"

#include <functional>

namespace headscope::graph::ops {

/// One row that a norm works on. The norms differ in where their rows are stored, and in whether they
/// subtract the mean: x / sqrt(mean of x² + eps), RMSNorm (Zhang and Sennrich 2019), or the same of x - mean,
/// LayerNorm (Ba et al. 2016).
class NormedRow {
public:
    /// cell_of(c): the cell of input 0 that is number c of the row.
    NormedRow(const Call& call, const Norm& norm, std::int64_t width,
              std::function<Index(std::int64_t c)> cell_of);

    /// Number c after the norm, before its weight.
    double number(std::int64_t c) const { return (x(c) - mean_) / root_; }
    /// The number that multiplies number `from` in the normed number c; the scale is frozen.
    double coefficient(std::int64_t c, std::int64_t from) const;
    /// The arithmetic of number().
    Arithmetic explain(std::int64_t c) const;

private:
    double x(std::int64_t c) const { return call_.in[0].at(cell_of_(c)); }
    const Call& call_;
    const Norm norm_;
    const std::int64_t width_;
    const std::function<Index(std::int64_t c)> cell_of_;
    double mean_ = 0;
    double root_ = 1; ///< sqrt(mean square + eps)
};

} // namespace headscope::graph::ops
