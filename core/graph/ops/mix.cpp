#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: coefficients (..., C), and two or more arrays (..., D). The first array plus each of the others
/// times a number of its token (Baykal et al. 2023, "Alternating Updates for Efficient Transformers", section
/// 3.1).
class MixOperation final : public Operation {
public:
    std::string_view name() const override { return "mix"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const Axes &coefficients = call.axes_of(0), &sum = call.axes_of(1);
        const int last = sum.rank() - 1;
        const std::int64_t end =
            call.as<Mix>().first + static_cast<std::int64_t>(call.in.size() - first_term);
        expect(call, 1, sum.rank() >= 1, "(B, Tq, D)");
        expect(call, 0,
               coefficients.rank() == sum.rank() && coefficients.with(last, sum[last]) == sum &&
                   coefficients.size(last) >= end,
               sum.with(last, {"C", end}).text());
        for (std::size_t input = 2; input < call.in.size(); ++input)
            expect(call, input, call.axes_of(input) == sum, sum.text());
        return sum;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans{one_cell(1, at)};
        for (std::size_t input = first_term; input < call.in.size(); ++input) {
            spans.push_back(one_cell(0, coefficient_cell(call, input, at)));
            spans.push_back(one_cell(input, at));
        }
        return spans;
    }

    std::string formula(const Call& call, const Names& names) const override {
        std::string sum = names.out + " = " + names.in[1];
        for (std::size_t input = first_term; input < call.in.size(); ++input) {
            const std::string number = names.in[0] + "[:, " + std::to_string(column_of(call, input)) + "]";
            sum += " + " + with_offset(call, number) + " × " + names.in[input];
        }
        return sum;
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic = Arithmetic::of(factor(call, 1, at));
        for (std::size_t input = first_term; input < call.in.size(); ++input) {
            Factor coefficient = factor(call, 0, coefficient_cell(call, input, at));
            if (const double offset = call.as<Mix>().offset; offset != 0) {
                coefficient.value += offset;
                coefficient.symbol = number_text(offset) + " + c";
            }
            arithmetic.add_term({coefficient, factor(call, input, at)});
        }
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        std::string sum = names.out + " = " + names.in[1];
        for (std::size_t input = first_term; input < call.in.size(); ++input) {
            const std::int64_t column = column_of(call, input);
            const std::string number =
                names.in[0] + "[..., " + std::to_string(column) + ":" + std::to_string(column + 1) + "]";
            sum += " + " + with_offset(call, number) + " * " + names.in[input];
        }
        return sum + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        double sum = call.in[1].at(at);
        for (std::size_t input = first_term; input < call.in.size(); ++input)
            sum += multiplier(call, input, at) * call.in[input].at(at);
        return sum;
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        if (input == 1)
            return 1;
        if (input >= first_term)
            return multiplier(call, input, at);
        const std::int64_t term = column(from, call.axes.rank()) - call.as<Mix>().first;
        return call.in[first_term + static_cast<std::size_t>(term)].at(at);
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return static_cast<double>(call.in.size() - first_term);
    }

private:
    static constexpr std::size_t first_term = 2;
    static std::int64_t column_of(const Call& call, std::size_t input) {
        return call.as<Mix>().first + static_cast<std::int64_t>(input - first_term);
    }
    static Index coefficient_cell(const Call& call, std::size_t input, const Index& at) {
        return with(at, call.axes_of(0).rank() - 1, column_of(call, input));
    }
    static double multiplier(const Call& call, std::size_t input, const Index& at) {
        return call.as<Mix>().offset + call.in[0].at(coefficient_cell(call, input, at));
    }
    static std::string with_offset(const Call& call, const std::string& number) {
        const double offset = call.as<Mix>().offset;
        return offset == 0 ? number : "(" + number_text(offset) + " + " + number + ")";
    }
};

} // namespace

const Operation& mix() {
    static const MixOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
