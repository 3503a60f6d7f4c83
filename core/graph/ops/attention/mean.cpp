#include "core/base/message.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Input: weights (B, H, Tq, Tk). Their mean over the heads, (B, Tq, Tk).
class Mean final : public Operation {
public:
    std::string_view name() const override { return "mean"; }
    Page page(Step) const override { return Page::weights; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 4);
        const Axes& x = call.axes_of(0);
        return {x[0], x[2], x[3]};
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {{0, head_cell(at, 0), 1, heads(call)}};
    }

    std::string formula(const Call&, const Names& names) const override {
        return tr("graph.mean_over_heads", "{} = mean of {}[h] over h", names.out, names.in[0]);
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::int64_t h = 0; h < heads(call); ++h)
            arithmetic.add_term({factor(call, 0, head_cell(at, h))});
        arithmetic.then(StepKind::divided_by, number(static_cast<double>(heads(call)), "H"));
        return arithmetic;
    }

    std::string pytorch(const Call&, const Names& names) const override {
        return names.out + " = " + names.in[0] + ".mean(dim=1)\n";
    }

    double cell(const Call& call, const Index& at) const override {
        double sum = 0;
        for (std::int64_t h = 0; h < heads(call); ++h)
            sum += call.in[0].at(head_cell(at, h));
        return sum / static_cast<double>(heads(call));
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index&, std::size_t, const Index&) const override {
        return 1.0 / static_cast<double>(heads(call));
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return static_cast<double>(heads(call));
    }

private:
    static std::int64_t heads(const Call& call) { return call.axes_of(0).size(1); }
    static Index head_cell(const Index& at, std::int64_t h) { return {at[0], h, at[1], at[2]}; }
};

} // namespace

const Operation& mean() {
    static const Mean operation;
    return operation;
}

} // namespace headscope::graph::ops
