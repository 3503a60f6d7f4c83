#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: head outputs (B, H, Tq, dv), W_O (H·dv, D), and optionally head gains (H). The contribution of
/// each head to the output, (B, H, Tq, D): its numbers times its rows of W_O (Elhage et al. 2021, "A
/// Mathematical Framework for Transformer Circuits"). The output is their sum over the heads, plus the bias.
class HeadProjection final : public Operation {
public:
    std::string_view name() const override { return "head_projection"; }
    Page page(Step) const override { return Page::contributions; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 4);
        const Axes &heads = call.axes_of(0), &W = call.axes_of(1);
        expect_rank(call, 1, 2);
        expect(call, 1, W.size(0) == heads.size(1) * heads.size(3),
               Axes{product(heads[1], heads[3]), W[1]}.text());
        if (call.has(2))
            expect(call, 2, call.axes_of(2).rank() == 1 && call.axes_of(2).size(0) == heads.size(1),
                   Axes{heads[1]}.text());
        return heads.with(3, W[1]);
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans{row_of(call, 0, at), {1, weight_cell(call, at, 0), 0, width(call)}};
        if (call.has(2))
            spans.push_back(one_cell(2, {at[1]}));
        return spans;
    }

    std::string formula(const Call&, const Names& names) const override {
        return tr("graph.head_projection", "{0}[h] = {1}[h] · {2}[rows of h]", names.out, names.in[0],
                  names.in[1]);
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::int64_t c = 0; c < width(call); ++c)
            arithmetic.add_term({factor(call, 0, with(at, 3, c)), factor(call, 1, weight_cell(call, at, c))});
        if (call.has(2))
            arithmetic.then(StepKind::times, factor(call, 2, {at[1]}));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const Axes& heads = call.axes_of(0);
        const std::string gained =
            call.has(2) ? "(" + names.in[0] + " * " + names.in[2] + ".reshape(1, -1, 1, 1))" : names.in[0];
        return "# The output is their sum over the heads, plus the bias.\n" + names.out + " = " + gained +
               " @ " + names.in[1] + ".unflatten(0, " + python_pair(heads[1], heads[3]) + ")\n";
    }

    double cell(const Call& call, const Index& at) const override {
        double sum = 0;
        for (std::int64_t c = 0; c < width(call); ++c)
            sum += call.in[0].at(with(at, 3, c)) * call.in[1].at(weight_cell(call, at, c));
        return sum * gain(call, at);
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        if (input == 0)
            return call.in[1].at(weight_cell(call, at, from[3])) * gain(call, at);
        if (input == 1)
            return call.in[0].at(with(at, 3, from[0] % width(call))) * gain(call, at);
        double sum = 0;
        for (std::int64_t c = 0; c < width(call); ++c)
            sum += call.in[0].at(with(at, 3, c)) * call.in[1].at(weight_cell(call, at, c));
        return sum;
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return static_cast<double>(width(call));
    }

private:
    static std::int64_t width(const Call& call) { return call.axes_of(0).size(3); }
    static Index weight_cell(const Call& call, const Index& at, std::int64_t c) {
        return {at[1] * width(call) + c, at[3]};
    }
    static double gain(const Call& call, const Index& at) {
        return call.has(2) ? call.in[2].at({at[1]}) : 1.0;
    }
};

} // namespace

const Operation& head_projection() {
    static const HeadProjection operation;
    return operation;
}

} // namespace headscope::graph::ops
