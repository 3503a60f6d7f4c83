#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <algorithm>

namespace headscope::graph::ops {

namespace {

/// Inputs: x (..., d_in), W (d_in, d_out), and optionally b (d_out). Y = X W + b.
class LinearOperation final : public Operation {
public:
    std::string_view name() const override { return "linear"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const auto& attributes = call.as<Linear>();
        const Axes &x = call.axes_of(0), &W = call.axes_of(1);
        expect_rank(call, 1, 2);
        expect(call, 0, x.rank() >= 1, "(B, Tq, D)");
        const Axis &in = W[attributes.transposed ? 1 : 0], &out = W[attributes.transposed ? 0 : 1];
        const std::string numbers = in.name + " " + std::to_string(x.back(0).size);
        expect(call, 1, in.size == x.back(0).size, numbers);
        if (call.has(2))
            expect(call, 2, call.axes_of(2).rank() == 1 && call.axes_of(2).size(0) == out.size,
                   Axes{out}.text());
        Axes y = x.with(x.rank() - 1, out);
        if (!attributes.tokens.empty()) {
            expect(call, 0, x.rank() >= 2, "(B, Tq, D)");
            y = y.with(x.rank() - 2, {attributes.tokens, x.back(1).size});
        }
        return y;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        const ReadSpan weights{1, weight_cell(call, 0, out_column(call, at)),
                               call.as<Linear>().transposed ? 1 : 0, d_in(call)};
        std::vector<ReadSpan> spans{row_of(call, 0, at), weights};
        if (call.has(2))
            spans.push_back(one_cell(2, {out_column(call, at)}));
        return spans;
    }

    std::string formula(const Call& call, const Names& names) const override {
        const auto& attributes = call.as<Linear>();
        const bool paper = attributes.paper_symbols;
        const std::vector<std::string>& in = paper ? names.in_symbols : names.in;
        const std::string sum = (paper ? names.out_symbol : names.out) + " = " + in[0] +
                                (paper ? " " : " · ") + in[1] + (call.has(2) ? " + " + in[2] : "");
        return attributes.limit > 0 ? tr("graph.clipped", "{}, clipped to [−c, c]", sum) : sum;
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        const std::int64_t out = out_column(call, at);
        for (std::int64_t c = 0; c < d_in(call); ++c)
            arithmetic.add_term({factor(call, 0, with(at, call.axes.rank() - 1, c)),
                                 factor(call, 1, weight_cell(call, c, out))});
        if (call.has(2))
            arithmetic.add_term({factor(call, 2, {out})});
        if (const double limit = call.as<Linear>().limit; limit > 0)
            arithmetic.then(StepKind::clipped, number(limit, "c"));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& attributes = call.as<Linear>();
        const std::string sum = names.in[0] + " @ " + names.in[1] + (attributes.transposed ? ".T" : "") +
                                (call.has(2) ? " + " + names.in[2] : "");
        const std::string limit = number_text(attributes.limit);
        return names.out + " = " +
               (attributes.limit > 0 ? "(" + sum + ").clamp(-" + limit + ", " + limit + ")" : sum) + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        const std::int64_t in = d_in(call), out = out_column(call, at);
        const Operand &x = call.in[0], &W = call.in[1];
        const std::int64_t row = x.shape.offset(with(at, call.axes.rank() - 1, 0)),
                           column = W.shape.offset(weight_cell(call, 0, out)),
                           step = call.as<Linear>().transposed ? 1 : call.axes_of(1).size(1);
        double sum = call.has(2) ? call.in[2].at({out}) : 0.0;
        for (std::int64_t c = 0; c < in; ++c)
            sum += x.number(row + c) * W.number(column + c * step);
        const double limit = call.as<Linear>().limit;
        return limit > 0 ? std::clamp(sum, -limit, limit) : sum;
    }

    bool is_linear_in(const Call& call, std::size_t) const override { return call.as<Linear>().limit == 0; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        if (input == 2)
            return 1;
        if (input == 0)
            return call.in[1].at(
                weight_cell(call, column(from, call.axes_of(0).rank()), out_column(call, at)));
        const std::int64_t row = from[call.as<Linear>().transposed ? 1 : 0];
        return call.in[0].at(with(at, call.axes.rank() - 1, row));
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override { return static_cast<double>(d_in(call)); }

private:
    static std::int64_t d_in(const Call& call) { return call.axes_of(0).back(0).size; }
    static std::int64_t out_column(const Call& call, const Index& at) { return column(at, call.axes.rank()); }
    static Index weight_cell(const Call& call, std::int64_t in, std::int64_t out) {
        return call.as<Linear>().transposed ? Index{out, in} : Index{in, out};
    }
};

} // namespace

const Operation& linear() {
    static const LinearOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
