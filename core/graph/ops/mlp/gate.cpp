#include "core/graph/ops/common.h"
#include "core/graph/ops/mlp/functions.h"
#include "core/graph/ops/ops.h"

#include <algorithm>

namespace headscope::graph::ops {

namespace {

/// Inputs: gate and in, of the same axes. function(gate) * in (Shazeer 2020, "GLU Variants Improve
/// Transformer"); with limits, the gate is at most c, in is clipped to [-c, c], and an offset is added to it
/// (OpenAI 2025, gpt-oss).
class GateOperation final : public Operation {
public:
    std::string_view name() const override { return "gate"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        expect(call, 1, call.axes_of(1) == call.axes_of(0), call.axes_of(0).text());
        return call.axes_of(0);
    }

    std::vector<ReadSpan> reads(const Call&, const Index& at) const override {
        return {one_cell(0, at), one_cell(1, at)};
    }

    std::string formula(const Call& call, const Names& names) const override {
        const auto& gate = call.as<Gate>();
        const std::string function(function_name(gate.function));
        const std::string opened =
            function + (gate.limit > 0 ? "(min(" + names.in[0] + ", c))" : "(" + names.in[0] + ")");
        std::string in = gate.limit > 0 ? "clip(" + names.in[1] + ", −c, c)" : names.in[1];
        if (gate.offset != 0)
            in = "(" + in + " + " + number_text(gate.offset) + ")";
        return names.out + " = " + opened + " × " + in;
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        const auto& gate = call.as<Gate>();
        const Factor limit = number(gate.limit, "c");
        Arithmetic in = Arithmetic::of(factor(call, 1, at));
        if (gate.limit > 0)
            in.then(StepKind::clipped, limit);
        if (gate.offset != 0)
            in.then(StepKind::plus, number(gate.offset));
        Arithmetic arithmetic = Arithmetic::of(factor(call, 0, at));
        if (gate.limit > 0)
            arithmetic.then(StepKind::at_most, limit);
        arithmetic.then_function(std::string(function_name(gate.function)), opened(call, at));
        if (in.steps.empty())
            arithmetic.then(StepKind::times, factor(call, 1, at));
        else
            arithmetic.then(StepKind::times, number(in.total), {in});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& gate = call.as<Gate>();
        const std::string limit = number_text(gate.limit);
        const std::string from = gate.limit > 0 ? names.in[0] + ".clamp(max=" + limit + ")" : names.in[0];
        std::string in = gate.limit > 0 ? names.in[1] + ".clamp(-" + limit + ", " + limit + ")" : names.in[1];
        if (gate.offset != 0)
            in = "(" + in + " + " + number_text(gate.offset) + ")";
        return names.out + " = " + function_python(gate.function, from) + " * " + in + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return opened(call, at) * gated(call, at);
    }

    bool is_linear_in(const Call& call, std::size_t input) const override {
        return input == 1 && call.as<Gate>().limit == 0;
    }
    double coefficient(const Call& call, const Index& at, std::size_t, const Index&) const override {
        return opened(call, at);
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 11; } // an exponential, about

private:
    static double opened(const Call& call, const Index& at) {
        const auto& gate = call.as<Gate>();
        const double x = call.in[0].at(at);
        return apply(gate.function, gate.limit > 0 ? std::min(x, gate.limit) : x);
    }
    static double gated(const Call& call, const Index& at) {
        const auto& gate = call.as<Gate>();
        const double x = call.in[1].at(at);
        return (gate.limit > 0 ? std::clamp(x, -gate.limit, gate.limit) : x) + gate.offset;
    }
};

} // namespace

const Operation& gate() {
    static const GateOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
