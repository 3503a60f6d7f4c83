#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: weights (B, H, Tq, Tk), values (B, Hkv, Tk, dv). The output of each head, (B, H, Tq, dv): the sum
/// of the values of all keys, each times its weight (Vaswani et al. 2017, equation 1).
class ValueSum final : public Operation {
public:
    std::string_view name() const override { return "value_sum"; }
    Page page(Step) const override { return Page::head_out; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 4);
        expect_rank(call, 1, 4);
        const Axes &weights = call.axes_of(0), &v = call.axes_of(1);
        const bool fits = v.size(0) == weights.size(0) && v.size(1) > 0 && weights.size(1) % v.size(1) == 0 &&
                          v.size(2) == weights.size(3);
        expect(call, 1, fits, Axes{weights[0], v[1], weights[3], v[3]}.text());
        return {weights[0], weights[1], weights[2], v[3]};
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {row_of(call, 0, {at[0], at[1], at[2]}), {1, value(call, at, 0), 2, keys(call)}};
    }

    std::string formula(const Call&, const Names& names) const override {
        return names.out + "[h] = " + names.in[0] + "[h] · " + names.in[1] + "[h]";
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::int64_t j = 0; j < keys(call); ++j)
            arithmetic.add_term(
                {factor(call, 0, {at[0], at[1], at[2], j}), factor(call, 1, value(call, at, j))});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const Axes &weights = call.axes_of(0), &v = call.axes_of(1);
        return python_sharing_comment(weights, v) + names.out + " = " + names.in[0] + " @ " + names.in[1] +
               python_shared_heads(weights, v) + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        double sum = 0;
        for (std::int64_t j = 0; j < keys(call); ++j)
            sum += call.in[0].at({at[0], at[1], at[2], j}) * call.in[1].at(value(call, at, j));
        return sum;
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        return input == 0 ? call.in[1].at(value(call, at, from[3]))
                          : call.in[0].at({at[0], at[1], at[2], from[2]});
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override { return static_cast<double>(keys(call)); }

private:
    static std::int64_t keys(const Call& call) { return call.axes_of(0).size(3); }
    static Index value(const Call& call, const Index& at, std::int64_t j) {
        return {at[0], shared_head(at[1], call.axes.size(1), call.axes_of(1).size(1)), j, at[3]};
    }
};

} // namespace

const Operation& value_sum() {
    static const ValueSum operation;
    return operation;
}

} // namespace headscope::graph::ops
