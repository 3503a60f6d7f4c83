#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <algorithm>
#include <cmath>

namespace headscope::graph::ops {

namespace {

/// Input: x (..., n). relu(x − cutoff), where the cutoff of a row is its mean plus z standard deviations (You
/// et al. 2025, "Spark Transformer", section 3.1): about a known fraction of the numbers becomes 0.
class GaussianTopKOperation final : public RowOperation {
public:
    std::string_view name() const override { return "gaussian_top_k"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        expect(call, 0, call.axes_of(0).rank() >= 1, "(B, Tq, d_ff)");
        return call.axes_of(0);
    }
    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {row_of(call, 0, at)};
    }

    std::string formula(const Call& call, const Names& names) const override {
        return tr("graph.gaussian_top_k", "{0} = max(0, {1} − (mean of {1} + {2} · standard deviation))",
                  names.out, names.in[0], number_text(deviations(call)));
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        const Arithmetic limit = cutoff(call, at);
        Arithmetic arithmetic = Arithmetic::of(factor(call, 0, at));
        arithmetic.then(StepKind::minus, number(limit.total), {limit});
        arithmetic.then_function("relu", std::max(arithmetic.total, 0.0));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const std::string& x = names.in[0];
        const auto of_row = [&](const std::string& what) { return x + "." + what + "dim=-1, keepdim=True)"; };
        return names.out + " = torch.relu(" + x + " - " + of_row("mean(") + " - " +
               number_text(deviations(call)) + " * " + of_row("std(unbiased=False, ") + ")\n";
    }

protected:
    void row(const Call& call, const Index& at, std::span<double> out) const override {
        const double limit = cutoff(call, at).total;
        for (std::size_t c = 0; c < out.size(); ++c)
            out[c] = std::max(
                call.in[0].at(with(at, call.axes.rank() - 1, static_cast<std::int64_t>(c))) - limit, 0.0);
    }
    double multiply_adds_per_cell(const Call&) const override { return 4; }

private:
    static double deviations(const Call& call) { return call.as<GaussianTopK>().deviations; }
    static Arithmetic cutoff(const Call& call, const Index& at) {
        const int last = call.axes.rank() - 1;
        const std::int64_t width = call.axes.size(last);
        const Factor n = number(static_cast<double>(width), "n");
        Arithmetic mean;
        for (std::int64_t c = 0; c < width; ++c)
            mean.add_term({factor(call, 0, with(at, last, c))});
        mean.then(StepKind::divided_by, n);
        Arithmetic spread;
        for (std::int64_t c = 0; c < width; ++c) {
            Factor centered = factor(call, 0, with(at, last, c));
            centered.value -= mean.total;
            centered.symbol = "x − μ";
            spread.add_term({centered, centered});
        }
        spread.then(StepKind::divided_by, n);
        spread.then(StepKind::square_root);
        spread.then(StepKind::times, number(deviations(call), "z"));
        mean.then(StepKind::plus, number(spread.total), {spread});
        return mean;
    }
};

} // namespace

const Operation& gaussian_top_k() {
    static const GaussianTopKOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
