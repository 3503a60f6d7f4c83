#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"
#include "core/graph/ops/scaled_number.h"

#include <cmath>

namespace headscope::graph::ops {

namespace {

/// Inputs: those of scale. c tanh(s / c), where s is the scaled number and c the cap (Gemma Team 2024,
/// "Gemma 2").
class SoftCap final : public Operation {
public:
    std::string_view name() const override { return "soft_cap"; }
    Page page(Step step) const override { return page_of(step); }
    Axes axes(const Call& call) const override { return scale_axes(call); }
    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return scale_reads(call, at);
    }
    std::string formula(const Call& call, const Names& names) const override {
        return names.out + " = c · tanh(" + scale_formula(call, names) + " ÷ c)";
    }
    Arithmetic explain(const Call& call, const Index& at) const override {
        const Factor cap = number(call.as<Scale>().cap, "c");
        Arithmetic arithmetic = scale_arithmetic(call, at);
        arithmetic.then(StepKind::divided_by, cap);
        arithmetic.then(StepKind::hyperbolic_tangent);
        arithmetic.then(StepKind::times, cap);
        return arithmetic;
    }
    std::string pytorch(const Call& call, const Names& names) const override {
        const std::string cap = number_text(call.as<Scale>().cap);
        return names.out + " = " + cap + " * torch.tanh(" + scale_python(call, names) + " / " + cap + ")\n";
    }
    double cell(const Call& call, const Index& at) const override {
        const double cap = call.as<Scale>().cap;
        return cap * std::tanh(scaled_number(call, at) / cap);
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 3; }
};

} // namespace

const Operation& soft_cap() {
    static const SoftCap operation;
    return operation;
}

} // namespace headscope::graph::ops
