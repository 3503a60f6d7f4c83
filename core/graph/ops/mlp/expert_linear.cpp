#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: x (B, T, d_in), W (experts, d_in, d_out), with scaled_input the fractions r (B, T, experts), and
/// optionally b (experts, d_out). x W_e + b_e, or r_e x W_e + b_e, for every expert e: (B, T, experts,
/// d_out). A backend computes only the chosen experts of each token.
class ExpertLinear final : public Operation {
public:
    std::string_view name() const override { return "expert_linear"; }
    Page page(Step) const override { return Page::mlp; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 3);
        expect_rank(call, 1, 3);
        const Axes &x = call.axes_of(0), &W = call.axes_of(1);
        expect(call, 1, W.size(1) == x.size(2), Axes{W[0], x[2], W[2]}.text());
        if (is_scaled(call)) {
            const Axes& r = call.axes_of(2);
            expect(call, 2,
                   r.rank() == 3 && r.size(0) == x.size(0) && r.size(1) == x.size(1) &&
                       r.size(2) == W.size(0),
                   Axes{x[0], x[1], W[0]}.text());
        }
        if (has_bias(call)) {
            const Axes& b = call.axes_of(bias(call));
            expect(call, bias(call), b.rank() == 2 && b.size(0) == W.size(0) && b.size(1) == W.size(2),
                   Axes{W[0], W[2]}.text());
        }
        return {x[0], x[1], W[0], W[2]};
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans{row_of(call, 0, {at[0], at[1]}), {1, {at[2], 0, at[3]}, 1, d_in(call)}};
        if (is_scaled(call))
            spans.push_back(one_cell(2, {at[0], at[1], at[2]}));
        if (has_bias(call))
            spans.push_back(one_cell(bias(call), {at[2], at[3]}));
        return spans;
    }

    std::string formula(const Call& call, const Names& names) const override {
        return names.out + "[e] = " + (is_scaled(call) ? names.in[2] + "[e] · " : "") + names.in[0] + " · " +
               names.in[1] + "[e]" + (has_bias(call) ? " + " + names.in[bias(call)] + "[e]" : "");
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::int64_t c = 0; c < d_in(call); ++c) {
            std::vector<Factor> term{factor(call, 0, {at[0], at[1], c}), factor(call, 1, {at[2], c, at[3]})};
            if (is_scaled(call))
                term.insert(term.begin(), factor(call, 2, {at[0], at[1], at[2]}));
            arithmetic.add_term(std::move(term));
        }
        if (has_bias(call))
            arithmetic.add_term({factor(call, bias(call), {at[2], at[3]})});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        return "# Every expert for every token; those that a token does not use have the fraction 0.\n" +
               names.out + " = " + (is_scaled(call) ? names.in[2] + ".unsqueeze(-1) * " : "") +
               "torch.einsum(\"btd,edf->btef\", " + names.in[0] + ", " + names.in[1] + ")" +
               (has_bias(call) ? " + " + names.in[bias(call)] : "") + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return fraction(call, at) * product(call, at) +
               (has_bias(call) ? call.in[bias(call)].at({at[2], at[3]}) : 0.0);
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        if (has_bias(call) && input == bias(call))
            return 1;
        if (input == 2)
            return product(call, at);
        return fraction(call, at) *
               (input == 0 ? call.in[1].at({at[2], from[2], at[3]}) : call.in[0].at({at[0], at[1], from[1]}));
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override { return static_cast<double>(d_in(call)); }

private:
    static std::int64_t d_in(const Call& call) { return call.axes_of(0).size(2); }
    static bool is_scaled(const Call& call) { return call.as<Experts>().scaled_input; }
    /// The input that is the bias, if there is one.
    static std::size_t bias(const Call& call) { return is_scaled(call) ? 3 : 2; }
    static bool has_bias(const Call& call) { return call.has(bias(call)); }
    static double fraction(const Call& call, const Index& at) {
        return is_scaled(call) ? call.in[2].at({at[0], at[1], at[2]}) : 1.0;
    }
    static double product(const Call& call, const Index& at) {
        double sum = 0;
        for (std::int64_t c = 0; c < d_in(call); ++c)
            sum += call.in[0].at({at[0], at[1], c}) * call.in[1].at({at[2], c, at[3]});
        return sum;
    }
};

} // namespace

const Operation& expert_linear() {
    static const ExpertLinear operation;
    return operation;
}

} // namespace headscope::graph::ops
