#include "core/graph/ops/common.h"
#include "core/graph/ops/mlp/functions.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Input: x. An activation function of each number.
class ActivationOperation final : public Operation {
public:
    std::string_view name() const override { return "activation"; }
    Page page(Step step) const override { return page_of(step); }
    Axes axes(const Call& call) const override { return call.axes_of(0); }
    std::vector<ReadSpan> reads(const Call&, const Index& at) const override { return {one_cell(0, at)}; }

    std::string formula(const Call& call, const Names& names) const override {
        return names.out + " = " + std::string(function_name(call.as<Activation>().function)) + "(" +
               names.in[0] + ")";
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic = Arithmetic::of(factor(call, 0, at));
        arithmetic.then_function(std::string(function_name(call.as<Activation>().function)), cell(call, at));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        return names.out + " = " + function_python(call.as<Activation>().function, names.in[0]) + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return apply(call.as<Activation>().function, call.in[0].at(at));
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 10; } // an exponential, about
};

} // namespace

const Operation& activation() {
    static const ActivationOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
