#include "core/graph/ops/scaled_number.h"

#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <cmath>

namespace headscope::graph::ops {

double scaled_number(const Call& call, const Index& at) {
    const auto& scale = call.as<Scale>();
    double divisor = scale.root_of > 0 ? std::sqrt(static_cast<double>(scale.root_of)) : 1.0;
    if (call.has(1))
        divisor *= call.in[1].at({});
    return call.in[0].at(at) * scale.factor / divisor;
}

double scale_coefficient(const Call& call) {
    const auto& scale = call.as<Scale>();
    double divisor = scale.root_of > 0 ? std::sqrt(static_cast<double>(scale.root_of)) : 1.0;
    if (call.has(1))
        divisor *= call.in[1].at({});
    return scale.factor / divisor;
}

std::string scale_formula(const Call& call, const Names& names) {
    const auto& scale = call.as<Scale>();
    std::string text = names.in[0];
    if (scale.factor != 1)
        text += " · " + rounded_text(scale.factor);
    if (scale.root_of > 0 && call.has(1))
        text += " ÷ (√dk · " + names.in[1] + ")";
    else if (scale.root_of > 0)
        text += " ÷ √dk";
    else if (call.has(1))
        text += " ÷ " + names.in[1];
    return text;
}

std::string scale_python(const Call& call, const Names& names) {
    const auto& scale = call.as<Scale>();
    std::string text = names.in[0];
    if (scale.factor != 1)
        text += " * " + number_text(scale.factor);
    if (scale.root_of > 0 && call.has(1))
        text += " / (math.sqrt(dk) * " + names.in[1] + ")";
    else if (scale.root_of > 0)
        text += " / math.sqrt(dk)";
    else if (call.has(1))
        text += " / " + names.in[1];
    return text;
}

Arithmetic scale_arithmetic(const Call& call, const Index& at) {
    const auto& scale = call.as<Scale>();
    Arithmetic arithmetic = Arithmetic::of(factor(call, 0, at));
    if (scale.factor != 1)
        arithmetic.then(StepKind::times, number(scale.factor));
    if (scale.root_of > 0)
        arithmetic.then(StepKind::divided_by, number(std::sqrt(static_cast<double>(scale.root_of)), "√dk"));
    if (call.has(1))
        arithmetic.then(StepKind::divided_by, factor(call, 1, {}));
    return arithmetic;
}

std::vector<ReadSpan> scale_reads(const Call& call, const Index& at) {
    std::vector<ReadSpan> spans{one_cell(0, at)};
    if (call.has(1))
        spans.push_back(one_cell(1, {}));
    return spans;
}

Axes scale_axes(const Call& call) {
    if (call.has(1))
        expect_rank(call, 1, 0);
    return call.axes_of(0);
}

namespace {

/// Inputs: x, and optionally a temperature (). x times a factor, divided by √dk and the temperature (Vaswani
/// et al. 2017, equation 1).
class ScaleOperation final : public Operation {
public:
    std::string_view name() const override { return "scale"; }
    Page page(Step step) const override { return page_of(step); }
    Axes axes(const Call& call) const override { return scale_axes(call); }
    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return scale_reads(call, at);
    }
    std::string formula(const Call& call, const Names& names) const override {
        return names.out + " = " + scale_formula(call, names);
    }
    Arithmetic explain(const Call& call, const Index& at) const override {
        return scale_arithmetic(call, at);
    }
    std::string pytorch(const Call& call, const Names& names) const override {
        return names.out + " = " + scale_python(call, names) + "\n";
    }
    double cell(const Call& call, const Index& at) const override { return scaled_number(call, at); }
    bool is_linear_in(const Call&, std::size_t input) const override { return input == 0; }
    double coefficient(const Call& call, const Index&, std::size_t, const Index&) const override {
        return scale_coefficient(call);
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 1; }
};

} // namespace

const Operation& scale() {
    static const ScaleOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
