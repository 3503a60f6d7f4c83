#pragma once

#include "core/graph/ops/common.h"
#include "core/graph/ops/normed_row.h"

namespace headscope::graph::ops {

/// Inputs: x (..., D), and optionally weight (D) and bias (D). The part that rms_norm and layer_norm share.
class RowNorm : public RowOperation {
public:
    Page page(Step step) const override { return page_of(step); }
    Axes axes(const Call& call) const override;
    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override;
    Arithmetic explain(const Call& call, const Index& at) const override;
    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override;

protected:
    explicit RowNorm(bool centered) : centered_(centered) {}
    void row(const Call& call, const Index& at, std::span<double> out) const override;
    double multiply_adds_per_cell(const Call&) const override { return centered_ ? 4 : 3; }

private:
    NormedRow row_at(const Call& call, const Index& at) const;
    const bool centered_;
};

} // namespace headscope::graph::ops
