#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <algorithm>
#include <cmath>

namespace headscope::graph::ops {

namespace {

/// Inputs: x (..., D) and another array of the same axes. Each row of x, scaled so that its root mean square
/// is that of the other's row; the mean square of a smaller row of x counts as a least one.
class MatchMagnitude final : public RowOperation {
public:
    std::string_view name() const override { return "match_magnitude"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        expect(call, 0, call.axes_of(0).rank() >= 1, "(B, Tq, D)");
        expect(call, 1, call.axes_of(1) == call.axes_of(0), call.axes_of(0).text());
        return call.axes_of(0);
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {row_of(call, 0, at), row_of(call, 1, at)};
    }

    std::string formula(const Call&, const Names& names) const override {
        return tr("graph.match_magnitude", "{0} = {1} · √(mean square of {2}) ÷ √(mean square of {1})",
                  names.out, names.in[0], names.in[1]);
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        const Arithmetic to = root(call, 1, at), from = root(call, 0, at);
        Arithmetic arithmetic = Arithmetic::of(factor(call, 0, at));
        arithmetic.then(StepKind::times, number(to.total), {to});
        arithmetic.then(StepKind::divided_by, number(from.total), {from});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto mean_square = [](const std::string& x) {
            return x + ".square().mean(dim=-1, keepdim=True)";
        };
        return names.out + " = " + names.in[0] + " * " + mean_square(names.in[1]) + ".sqrt() / " +
               mean_square(names.in[0]) + ".clamp(min=" + number_text(call.as<Magnitude>().least) +
               ").sqrt()\n";
    }

    bool is_linear_in(const Call&, std::size_t input) const override { return input == 0; }
    double coefficient(const Call& call, const Index& at, std::size_t, const Index& from) const override {
        return at == from ? scale(call, at) : 0.0;
    }

protected:
    void row(const Call& call, const Index& at, std::span<double> out) const override {
        const double factor = scale(call, at);
        for (std::size_t c = 0; c < out.size(); ++c)
            out[c] = factor * call.in[0].at(with(at, call.axes.rank() - 1, static_cast<std::int64_t>(c)));
    }
    double multiply_adds_per_cell(const Call&) const override { return 3; }

private:
    /// The arithmetic of the root mean square of the row of an input.
    static Arithmetic root(const Call& call, std::size_t input, const Index& at) {
        const int last = call.axes.rank() - 1;
        const std::int64_t width = call.axes.size(last);
        Arithmetic arithmetic;
        for (std::int64_t c = 0; c < width; ++c) {
            const Factor x = factor(call, input, with(at, last, c));
            arithmetic.add_term({x, x});
        }
        arithmetic.then(StepKind::divided_by, number(static_cast<double>(width), "n"));
        if (const double least = call.as<Magnitude>().least; input == 0 && arithmetic.total < least)
            arithmetic.then_function("max(" + number_text(least) + ")", least);
        arithmetic.then(StepKind::square_root);
        return arithmetic;
    }
    static double scale(const Call& call, const Index& at) {
        return root(call, 1, at).total / root(call, 0, at).total;
    }
};

} // namespace

const Operation& match_magnitude() {
    static const MatchMagnitude operation;
    return operation;
}

} // namespace headscope::graph::ops
