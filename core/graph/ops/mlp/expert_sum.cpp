#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: fractions r (B, T, experts), x (B, T, experts, d_ff), W (experts, d_ff, D), and optionally
/// b (experts, D). The sum over the experts e of r_e (x_e W_e + b_e): (B, T, D). With scaled_input, whose
/// fractions the experts have read, the sum of x_e W_e + b_e over the experts with a fraction that is not 0.
class ExpertSum final : public Operation {
public:
    std::string_view name() const override { return "expert_sum"; }
    Page page(Step) const override { return Page::mlp_out; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 3);
        expect_rank(call, 1, 4);
        expect_rank(call, 2, 3);
        const Axes &r = call.axes_of(0), &x = call.axes_of(1), &W = call.axes_of(2);
        expect(call, 1, x.size(0) == r.size(0) && x.size(1) == r.size(1) && x.size(2) == r.size(2),
               Axes{r[0], r[1], r[2], x[3]}.text());
        expect(call, 2, W.size(0) == r.size(2) && W.size(1) == x.size(3), Axes{r[2], x[3], W[2]}.text());
        if (call.has(3)) {
            const Axes& b = call.axes_of(3);
            expect(call, 3, b.rank() == 2 && b.size(0) == W.size(0) && b.size(1) == W.size(2),
                   Axes{W[0], W[2]}.text());
        }
        return {r[0], r[1], W[2]};
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans{row_of(call, 0, {at[0], at[1]})};
        for (std::int64_t e = 0; e < experts(call); ++e) {
            if (call.in[0].known() && fraction(call, at, e) == 0)
                continue;
            spans.push_back(row_of(call, 1, {at[0], at[1], e}));
            spans.push_back({2, {e, 0, at[2]}, 1, width(call)});
            if (call.has(3))
                spans.push_back(one_cell(3, {e, at[2]}));
        }
        return spans;
    }

    std::string formula(const Call& call, const Names& names) const override {
        const std::string product = names.in[1] + "[e] · " + names.in[2] + "[e]";
        if (is_scaled(call))
            return tr("graph.sum_of_chosen_experts", "{} = sum of {} over the chosen experts e", names.out,
                      call.has(3) ? product + " + " + names.in[3] + "[e]" : product);
        return names.out + " = Σ_e " + names.in[0] + "[e] · " +
               (call.has(3) ? "(" + product + " + " + names.in[3] + "[e])" : product);
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::int64_t e = 0; e < experts(call); ++e) {
            if (fraction(call, at, e) == 0)
                continue;
            const auto add = [&](std::vector<Factor> term) {
                if (!is_scaled(call))
                    term.insert(term.begin(), factor(call, 0, {at[0], at[1], e}));
                arithmetic.add_term(std::move(term));
            };
            for (std::int64_t c = 0; c < width(call); ++c)
                add({factor(call, 1, {at[0], at[1], e, c}), factor(call, 2, {e, c, at[2]})});
            if (call.has(3))
                add({factor(call, 3, {e, at[2]})});
        }
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        std::string each = "torch.einsum(\"btef,efd->bted\", " + names.in[1] + ", " + names.in[2] + ")";
        if (call.has(3))
            each = "(" + each + " + " + names.in[3] + ")";
        const std::string fractions = is_scaled(call) ? "(" + names.in[0] + " != 0)" : names.in[0];
        return names.out + " = (" + fractions + ".unsqueeze(-1) * " + each + ").sum(dim=2)\n";
    }

    double cell(const Call& call, const Index& at) const override {
        double sum = 0;
        for (std::int64_t e = 0; e < experts(call); ++e)
            if (const double own = fraction(call, at, e); own != 0)
                sum += weight(call, own) * expert_output(call, at, e);
        return sum;
    }

    bool is_linear_in(const Call& call, std::size_t input) const override {
        return input != 0 || !is_scaled(call);
    }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        switch (input) {
        case 0:
            return expert_output(call, at, from[2]);
        case 1:
            return weight(call, fraction(call, at, from[2])) * call.in[2].at({from[2], from[3], at[2]});
        case 2:
            return weight(call, fraction(call, at, from[0])) *
                   call.in[1].at({at[0], at[1], from[0], from[1]});
        }
        return weight(call, fraction(call, at, from[0]));
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return static_cast<double>(experts(call) * width(call));
    }

private:
    static bool is_scaled(const Call& call) { return call.as<Experts>().scaled_input; }
    /// The number that multiplies the output of an expert with this fraction.
    static double weight(const Call& call, double fraction) {
        return is_scaled(call) && fraction != 0 ? 1.0 : fraction;
    }
    static std::int64_t experts(const Call& call) { return call.axes_of(0).size(2); }
    static std::int64_t width(const Call& call) { return call.axes_of(1).size(3); }
    static double fraction(const Call& call, const Index& at, std::int64_t e) {
        return call.in[0].at({at[0], at[1], e});
    }
    static double expert_output(const Call& call, const Index& at, std::int64_t e) {
        double sum = call.has(3) ? call.in[3].at({e, at[2]}) : 0.0;
        for (std::int64_t c = 0; c < width(call); ++c)
            sum += call.in[1].at({at[0], at[1], e, c}) * call.in[2].at({e, c, at[2]});
        return sum;
    }
};

} // namespace

const Operation& expert_sum() {
    static const ExpertSum operation;
    return operation;
}

} // namespace headscope::graph::ops
