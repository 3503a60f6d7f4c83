#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <cmath>

namespace headscope::graph::ops {

namespace {

/// Inputs: a (B, Tq, H), A_log (H). The fraction of a head's state that stays at a token:
/// exp(-exp(A_log) softplus(a)), between 0 and 1 (Dao and Gu 2024, "Transformers are SSMs", section 7; Yang
/// et al. 2025, "Gated Delta Networks").
class Decay final : public Operation {
public:
    std::string_view name() const override { return "decay"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const Axes& a = call.axes_of(0);
        expect_rank(call, 0, 3);
        expect(call, 1, call.axes_of(1).rank() == 1 && call.axes_of(1).size(0) == a.size(2),
               Axes{a[2]}.text());
        return a;
    }

    std::vector<ReadSpan> reads(const Call&, const Index& at) const override {
        return {one_cell(0, at), one_cell(1, {at[2]})};
    }

    std::string formula(const Call&, const Names& names) const override {
        return names.out + " = exp(−exp(" + names.in[1] + ") · softplus(" + names.in[0] + "))";
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Factor rate = factor(call, 1, {at[2]});
        rate.value = -std::exp(rate.value);
        rate.symbol = "−exp";
        Arithmetic arithmetic = Arithmetic::of(factor(call, 0, at));
        arithmetic.then_function("softplus", softplus(call.in[0].at(at)));
        arithmetic.then(StepKind::times, std::move(rate));
        arithmetic.then(StepKind::exponential);
        return arithmetic;
    }

    std::string pytorch(const Call&, const Names& names) const override {
        return names.out + " = torch.exp(-torch.exp(" + names.in[1] + ") * torch.nn.functional.softplus(" +
               names.in[0] + "))\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return std::exp(-std::exp(call.in[1].at({at[2]})) * softplus(call.in[0].at(at)));
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 30; } // three exponentials, about

private:
    static double softplus(double x) {
        return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    }
};

} // namespace

const Operation& decay() {
    static const Decay operation;
    return operation;
}

} // namespace headscope::graph::ops
