#include "core/graph/ops/normed_row.h"

#include "core/graph/ops/common.h"

#include <cmath>
#include <utility>

namespace headscope::graph::ops {

NormedRow::NormedRow(const Call& call, const Norm& norm, std::int64_t width,
                     std::function<Index(std::int64_t c)> cell_of)
    : call_(call), norm_(norm), width_(width), cell_of_(std::move(cell_of)) {
    const auto n = static_cast<double>(width);
    if (norm.centered) {
        for (std::int64_t c = 0; c < width; ++c)
            mean_ += x(c);
        mean_ /= n;
    }
    double squares = 0;
    for (std::int64_t c = 0; c < width; ++c)
        squares += (x(c) - mean_) * (x(c) - mean_);
    root_ = std::sqrt(squares / n + norm.eps);
}

double NormedRow::coefficient(std::int64_t c, std::int64_t from) const {
    const double own = c == from ? 1.0 : 0.0;
    return (norm_.centered ? own - 1.0 / static_cast<double>(width_) : own) / root_;
}

Arithmetic NormedRow::explain(std::int64_t c) const {
    const auto n = static_cast<double>(width_);
    Arithmetic arithmetic = Arithmetic::of(factor(call_, 0, cell_of_(c)));
    if (norm_.centered) {
        Arithmetic mean;
        for (std::int64_t i = 0; i < width_; ++i)
            mean.add_term({factor(call_, 0, cell_of_(i))});
        mean.then(StepKind::divided_by, ops::number(n, "n"));
        arithmetic.then(StepKind::minus, ops::number(mean_, "μ"), {mean});
    }
    Arithmetic root;
    for (std::int64_t i = 0; i < width_; ++i) {
        const Factor centered{
            .value = x(i) - mean_, .cell = Cell{0, cell_of_(i)}, .symbol = norm_.centered ? "x − μ" : ""};
        root.add_term({centered, centered});
    }
    root.then(StepKind::divided_by, ops::number(n, "n"));
    root.then(StepKind::plus, ops::number(norm_.eps, "ε"));
    root.then(StepKind::square_root);
    arithmetic.then(StepKind::divided_by, ops::number(root.total), {root});
    return arithmetic;
}

} // namespace headscope::graph::ops
