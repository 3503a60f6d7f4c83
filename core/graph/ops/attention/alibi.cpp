#include "core/base/joined.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <bit>

namespace headscope::graph::ops {

namespace {

/// The nearest bfloat16, ties to even.
double as_bfloat16(double number) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
    return static_cast<double>(std::bit_cast<float>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF0000U));
}

/// Input: the place of each key among the real keys, (B, Tk); 0 for padding. The place times the slope of
/// each head, (B, H, Tk): added to the scores, it lowers those of distant keys (Press et al. 2022, "Train
/// Short, Test Long").
class AlibiOperation final : public Operation {
public:
    std::string_view name() const override { return "alibi"; }
    Page page(Step) const override { return Page::maps; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 2);
        const Axes& places = call.axes_of(0);
        return {places[0], {"H", static_cast<std::int64_t>(call.as<Alibi>().slopes.size())}, places[1]};
    }

    std::vector<ReadSpan> reads(const Call&, const Index& at) const override {
        return {one_cell(0, place(at))};
    }

    std::string formula(const Call&, const Names& names) const override {
        return names.out + "[h] = m_h · " + names.in[0];
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        const auto& alibi = call.as<Alibi>();
        Arithmetic arithmetic;
        arithmetic.add_term({number(slope(call, at), "m_h"), factor(call, 0, place(at))});
        if (alibi.bfloat16)
            arithmetic.then_function("bfloat16", as_bfloat16(arithmetic.total));
        if (alibi.divisor != 1)
            arithmetic.then(StepKind::divided_by, number(alibi.divisor, "√dk"));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& alibi = call.as<Alibi>();
        const std::string slopes = "torch.tensor([" +
                                   joined(alibi.slopes, [](float m) { return number_text(m); }) + "])" +
                                   (alibi.bfloat16 ? ".bfloat16()" : "") + "[None, :, None]";
        return "# ALiBi: a slope of each head times the place of the key (Press et al. 2022, \"Train Short, "
               "Test "
               "Long\").\n" +
               names.out + " = " + (alibi.bfloat16 ? "(" : "") + slopes + " * " + names.in[0] +
               "[:, None, :]" + (alibi.bfloat16 ? ").bfloat16().float()" : "") +
               (alibi.divisor == 1 ? "" : " / " + number_text(alibi.divisor)) + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        const double bias = slope(call, at) * call.in[0].at(place(at));
        const auto& alibi = call.as<Alibi>();
        return (alibi.bfloat16 ? as_bfloat16(bias) : bias) / alibi.divisor;
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 1; }

private:
    static Index place(const Index& at) { return {at[0], at[2]}; }
    static double slope(const Call& call, const Index& at) {
        const auto& alibi = call.as<Alibi>();
        const auto m = static_cast<double>(alibi.slopes[static_cast<std::size_t>(at[1])]);
        return alibi.bfloat16 ? as_bfloat16(m) : m;
    }
};

} // namespace

const Operation& alibi() {
    static const AlibiOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
