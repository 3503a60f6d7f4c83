#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <algorithm>

namespace headscope::graph::ops {

namespace {

/// Inputs: x (B, Tq, C), weight (K, C). A convolution over the tokens for each column alone: the sum of the
/// column's numbers at the token and at the K - 1 tokens before it, each times a weight; the last weight is
/// that of the token itself (Gu and Dao 2023, "Mamba", section 3.4). Before the first token there are zeros.
class CausalConv final : public Operation {
public:
    std::string_view name() const override { return "causal_conv"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const Axes &x = call.axes_of(0), &W = call.axes_of(1);
        expect_rank(call, 0, 3);
        expect(call, 1, W.rank() == 2 && W.size(0) >= 1 && W.size(1) == x.size(2), "(K, " + x[2].name + ")");
        return x;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        const std::int64_t count = tokens(call, at);
        return {{0, {at[0], at[1] + 1 - count, at[2]}, 1, count},
                {1, {width(call) - count, at[2]}, 0, count}};
    }

    std::string formula(const Call&, const Names& names) const override {
        return names.out + "[i] = Σ " + names.in[1] + "[k] · " + names.in[0] + "[i + k + 1 − K]";
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::int64_t back = tokens(call, at) - 1; back >= 0; --back)
            arithmetic.add_term({factor(call, 0, {at[0], at[1] - back, at[2]}),
                                 factor(call, 1, {width(call) - 1 - back, at[2]})});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const std::string& x = names.in[0];
        return names.out + " = torch.nn.functional.conv1d(torch.nn.functional.pad(" + x +
               ".transpose(1, 2), (" + std::to_string(width(call) - 1) + ", 0)), " + names.in[1] +
               ".T.unsqueeze(1), groups=" + std::to_string(call.axes.size(2)) + ").transpose(1, 2)\n";
    }

    double cell(const Call& call, const Index& at) const override {
        double sum = 0;
        for (std::int64_t back = tokens(call, at) - 1; back >= 0; --back)
            sum +=
                call.in[0].at({at[0], at[1] - back, at[2]}) * call.in[1].at({width(call) - 1 - back, at[2]});
        return sum;
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        if (input == 0)
            return call.in[1].at({width(call) - 1 - (at[1] - from[1]), at[2]});
        return call.in[0].at({at[0], at[1] - (width(call) - 1 - from[0]), at[2]});
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return static_cast<double>(width(call));
    }

private:
    static std::int64_t width(const Call& call) { return call.axes_of(1).size(0); }
    /// The tokens that a cell reads.
    static std::int64_t tokens(const Call& call, const Index& at) { return std::min(width(call), at[1] + 1); }
};

} // namespace

const Operation& causal_conv() {
    static const CausalConv operation;
    return operation;
}

} // namespace headscope::graph::ops
