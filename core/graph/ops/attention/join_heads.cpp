#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: head outputs (B, H, Tq, dv), and optionally head gains (H). The heads side by side, (B, Tq, H·dv),
/// each times its head gain: 1 leaves a head as it is, 0 ablates it.
class JoinHeads final : public Operation {
public:
    std::string_view name() const override { return "join_heads"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 4);
        const Axes& heads = call.axes_of(0);
        if (call.has(1))
            expect(call, 1, call.axes_of(1).rank() == 1 && call.axes_of(1).size(0) == heads.size(1),
                   Axes{heads[1]}.text());
        return {heads[0], heads[2], product(heads[1], heads[3])};
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans{one_cell(0, head_cell(call, at))};
        if (call.has(1))
            spans.push_back(one_cell(1, {head(call, at)}));
        return spans;
    }

    std::string formula(const Call&, const Names& names) const override {
        return names.out + " = [" + names.in[0] + "[0], " + names.in[0] + "[1], …]";
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        std::vector<Factor> factors{factor(call, 0, head_cell(call, at))};
        if (call.has(1))
            factors.push_back(factor(call, 1, {head(call, at)}));
        arithmetic.add_term(std::move(factors));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const std::string heads =
            call.has(1) ? "(" + names.in[0] + " * " + names.in[1] + ".reshape(1, -1, 1, 1))" : names.in[0];
        return (call.has(1) ? "# Each head times its gain, then side by side.\n"
                            : "# The heads side by side again.\n") +
               names.out + " = " + heads + ".transpose(1, 2).flatten(-2)\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return call.in[0].at(head_cell(call, at)) * gain(call, at);
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input, const Index&) const override {
        return input == 0 ? gain(call, at) : call.in[0].at(head_cell(call, at));
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 1; }

private:
    static std::int64_t head(const Call& call, const Index& at) { return at[2] / call.axes[2].inner; }
    static Index head_cell(const Call& call, const Index& at) {
        return {at[0], head(call, at), at[1], at[2] % call.axes[2].inner};
    }
    static double gain(const Call& call, const Index& at) {
        return call.has(1) ? call.in[1].at({head(call, at)}) : 1.0;
    }
};

} // namespace

const Operation& join_heads() {
    static const JoinHeads operation;
    return operation;
}

} // namespace headscope::graph::ops
