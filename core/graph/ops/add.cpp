#include "core/base/joined.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: two or more arrays. Their sum; the later ones are repeated to the axes of the first.
class Add final : public Operation {
public:
    std::string_view name() const override { return "add"; }
    Page page(Step) const override { return Page::residual; }

    Axes axes(const Call& call) const override {
        for (std::size_t input = 1; input < call.in.size(); ++input)
            expect(call, input, can_repeat(call.axes_of(input), call.axes_of(0)), call.axes_of(0).text());
        return call.axes_of(0);
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans;
        for (std::size_t input = 0; input < call.in.size(); ++input)
            spans.push_back(one_cell(input, term_cell(call, input, at)));
        return spans;
    }

    std::string formula(const Call&, const Names& names) const override {
        return names.out + " = " + joined(names.in, {}, " + ");
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::size_t input = 0; input < call.in.size(); ++input)
            arithmetic.add_term({factor(call, input, term_cell(call, input, at))});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        std::string sum;
        for (std::size_t input = 0; input < call.in.size(); ++input)
            sum += (sum.empty() ? "" : " + ") + names.in[input] +
                   python_repeated(call.axes_of(input), call.axes);
        return names.out + " = " + sum + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        double sum = 0;
        for (std::size_t input = 0; input < call.in.size(); ++input)
            sum += call.in[input].at(term_cell(call, input, at));
        return sum;
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call&, const Index&, std::size_t, const Index&) const override { return 1; }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return static_cast<double>(call.in.size() - 1);
    }

private:
    static Index term_cell(const Call& call, std::size_t input, const Index& at) {
        return repeated_cell(call.axes_of(input), call.axes, at);
    }
};

} // namespace

const Operation& add() {
    static const Add operation;
    return operation;
}

} // namespace headscope::graph::ops
