#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: two arrays. Their product, number by number; the second is repeated to the axes of the first.
class Multiply final : public Operation {
public:
    std::string_view name() const override { return "multiply"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        expect(call, 1, can_repeat(call.axes_of(1), call.axes_of(0)), call.axes_of(0).text());
        return call.axes_of(0);
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {one_cell(0, at), one_cell(1, second_cell(call, at))};
    }

    std::string formula(const Call&, const Names& names) const override {
        return names.out + " = " + names.in[0] + " × " + names.in[1];
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        arithmetic.add_term({factor(call, 0, at), factor(call, 1, second_cell(call, at))});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        return names.out + " = " + names.in[0] + " * " + names.in[1] +
               python_repeated(call.axes_of(1), call.axes) + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return call.in[0].at(at) * call.in[1].at(second_cell(call, at));
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input, const Index&) const override {
        return input == 0 ? call.in[1].at(second_cell(call, at)) : call.in[0].at(at);
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 1; }

private:
    static Index second_cell(const Call& call, const Index& at) {
        return repeated_cell(call.axes_of(1), call.axes, at);
    }
};

} // namespace

const Operation& multiply() {
    static const Multiply operation;
    return operation;
}

} // namespace headscope::graph::ops
