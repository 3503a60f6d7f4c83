#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: x (B, T, d_in), W (experts, d_in, d_out), and optionally b (experts, d_out). x W_e + b_e for every
/// expert e: (B, T, experts, d_out). A backend computes only the chosen experts of each token.
class ExpertLinear final : public Operation {
public:
    std::string_view name() const override { return "expert_linear"; }
    Page page(Step) const override { return Page::mlp; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 3);
        expect_rank(call, 1, 3);
        const Axes &x = call.axes_of(0), &W = call.axes_of(1);
        expect(call, 1, W.size(1) == x.size(2), Axes{W[0], x[2], W[2]}.text());
        if (call.has(2)) {
            const Axes& b = call.axes_of(2);
            expect(call, 2, b.rank() == 2 && b.size(0) == W.size(0) && b.size(1) == W.size(2),
                   Axes{W[0], W[2]}.text());
        }
        return {x[0], x[1], W[0], W[2]};
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans{row_of(call, 0, {at[0], at[1]}), {1, {at[2], 0, at[3]}, 1, d_in(call)}};
        if (call.has(2))
            spans.push_back(one_cell(2, {at[2], at[3]}));
        return spans;
    }

    std::string formula(const Call& call, const Names& names) const override {
        return names.out + "[e] = " + names.in[0] + " · " + names.in[1] + "[e]" +
               (call.has(2) ? " + " + names.in[2] + "[e]" : "");
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::int64_t c = 0; c < d_in(call); ++c)
            arithmetic.add_term({factor(call, 0, {at[0], at[1], c}), factor(call, 1, {at[2], c, at[3]})});
        if (call.has(2))
            arithmetic.add_term({factor(call, 2, {at[2], at[3]})});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        return "# Every expert for every token; those that a token does not use have the fraction 0.\n" +
               names.out + " = torch.einsum(\"btd,edf->btef\", " + names.in[0] + ", " + names.in[1] + ")" +
               (call.has(2) ? " + " + names.in[2] : "") + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        double sum = call.has(2) ? call.in[2].at({at[2], at[3]}) : 0.0;
        for (std::int64_t c = 0; c < d_in(call); ++c)
            sum += call.in[0].at({at[0], at[1], c}) * call.in[1].at({at[2], c, at[3]});
        return sum;
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        if (input == 2)
            return 1;
        return input == 0 ? call.in[1].at({at[2], from[2], at[3]}) : call.in[0].at({at[0], at[1], from[1]});
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override { return static_cast<double>(d_in(call)); }

private:
    static std::int64_t d_in(const Call& call) { return call.axes_of(0).size(2); }
};

} // namespace

const Operation& expert_linear() {
    static const ExpertLinear operation;
    return operation;
}

} // namespace headscope::graph::ops
