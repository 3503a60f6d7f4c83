#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <algorithm>
#include <cmath>

namespace headscope::graph::ops {

namespace {

/// Inputs: x (..., n), and with a sink one number per head (H). Each row becomes exp(x - max) / sum of
/// exp(x - max); a row of minus infinities becomes 0. The sink takes part in the maximum and the sum like one
/// more key, whose weight is dropped (OpenAI 2025, gpt-oss).
class SoftmaxOperation final : public RowOperation {
public:
    std::string_view name() const override { return "softmax"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const Axes& x = call.axes_of(0);
        expect(call, 0, x.rank() >= 1, "(B, H, Tq, Tk)");
        if (call.as<Softmax>().sink) {
            expect_rank(call, 0, 4);
            expect(call, 1, call.axes_of(1).rank() == 1 && call.axes_of(1).size(0) == x.size(1),
                   Axes{x[1]}.text());
        }
        return x;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans{row_of(call, 0, at)};
        if (call.as<Softmax>().sink)
            spans.push_back(one_cell(1, {at[1]}));
        return spans;
    }

    std::string formula(const Call& call, const Names& names) const override {
        if (call.as<Softmax>().sink)
            return tr("graph.softmax_with_sink",
                      "{} = softmax over {} and the head’s sink, without the sink’s weight", names.out,
                      names.in[0]);
        if (call.axes.back(0).name == "Tk")
            return tr("graph.softmax_by_query", "{} = softmax({}), one row per query token", names.out,
                      names.in[0]);
        return names.out + " = softmax(" + names.in[0] + ")";
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        const double largest = maximum(call, at);
        if (largest == minus_infinity)
            return {};
        Arithmetic sum;
        const auto add_power = [&](Factor of) {
            of.value = std::exp(of.value - largest);
            of.symbol = "exp";
            sum.add_term({std::move(of)});
        };
        const int last = call.axes.rank() - 1;
        for (std::int64_t c = 0; c < call.axes.size(last); ++c)
            add_power(factor(call, 0, with(at, last, c)));
        if (call.as<Softmax>().sink)
            add_power(factor(call, 1, {at[1]}));
        Arithmetic arithmetic = Arithmetic::of(factor(call, 0, at));
        arithmetic.then(StepKind::minus, number(largest, "max"));
        arithmetic.then(StepKind::exponential);
        arithmetic.then(StepKind::divided_by, number(sum.total), {sum});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& softmax = call.as<Softmax>();
        const std::string& x = names.in[0];
        if (softmax.sink)
            return "# The sink of each head takes part in the softmax like the score of one more key. Its "
                   "weight is "
                   "dropped.\n"
                   "sinks = " +
                   names.in[1] + ".reshape(1, -1, 1, 1).expand(" + call.axes[0].name + ", -1, " +
                   call.axes[2].name + ", 1)\n" + names.out + " = torch.softmax(torch.cat([" + x +
                   ", sinks], dim=-1), dim=-1)[..., :-1]\n";
        if (!softmax.empty_rows)
            return names.out + " = torch.softmax(" + x + ", dim=-1)\n";
        return "# PyTorch's softmax gives NaN for a row of minus infinities; a query that may attend to "
               "nothing has "
               "weights 0 here.\n"
               "closed = (" +
               x + " == -math.inf).all(dim=-1, keepdim=True)\n" + names.out + " = torch.softmax(" + x +
               ", dim=-1).masked_fill(closed, 0.0)\n";
    }

protected:
    void row(const Call& call, const Index& at, std::span<double> out) const override {
        const double largest = maximum(call, at);
        if (largest == minus_infinity) {
            std::ranges::fill(out, 0.0);
            return;
        }
        const int last = call.axes.rank() - 1;
        double sum = call.as<Softmax>().sink ? std::exp(call.in[1].at({at[1]}) - largest) : 0.0;
        for (std::size_t c = 0; c < out.size(); ++c) {
            out[c] = std::exp(call.in[0].at(with(at, last, static_cast<std::int64_t>(c))) - largest);
            sum += out[c];
        }
        for (double& number : out)
            number /= sum;
    }
    double multiply_adds_per_cell(const Call&) const override { return 3; }

private:
    /// The largest number of a row, and of the sink unless the row has only minus infinities.
    static double maximum(const Call& call, const Index& at) {
        const int last = call.axes.rank() - 1;
        double largest = minus_infinity;
        for (std::int64_t c = 0; c < call.axes.size(last); ++c)
            largest = std::max(largest, call.in[0].at(with(at, last, c)));
        return call.as<Softmax>().sink && largest > minus_infinity ? std::max(largest, call.in[1].at({at[1]}))
                                                                   : largest;
    }
};

} // namespace

const Operation& softmax() {
    static const SoftmaxOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
