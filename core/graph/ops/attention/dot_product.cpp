#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: queries (B, H, Tq, dk), keys (B, Hkv, Tk, dk), and optionally terms (B, H, Tq, Tk). The product of
/// each query with each key of its head, plus the terms, (B, H, Tq, Tk) (Vaswani et al. 2017, equation 1; He
/// et al. 2021, "DeBERTa", equation 4); H / Hkv query heads share a key head (Ainslie et al. 2023).
class DotProduct final : public Operation {
public:
    std::string_view name() const override { return "dot_product"; }
    Page page(Step) const override { return Page::maps; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 4);
        expect_rank(call, 1, 4);
        const Axes &q = call.axes_of(0), &k = call.axes_of(1);
        const bool fits =
            k.size(0) == q.size(0) && k.size(1) > 0 && q.size(1) % k.size(1) == 0 && k.size(3) == q.size(3);
        expect(call, 1, fits, Axes{q[0], k[1], k[2], q[3]}.text());
        const Axes scores{q[0], q[1], q[2], k[2]};
        for (std::size_t term = 2; term < call.in.size(); ++term)
            expect(call, term, call.axes_of(term) == scores, scores.text());
        return scores;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        std::vector<ReadSpan> spans{row_of(call, 0, {at[0], at[1], at[2]}),
                                    row_of(call, 1, key(call, at, 0))};
        for (std::size_t term = 2; term < call.in.size(); ++term)
            spans.push_back(one_cell(term, at));
        return spans;
    }

    std::string formula(const Call&, const Names& names) const override {
        std::string sum = names.out + "[h] = " + names.in[0] + "[h] · " + names.in[1] + "[h]ᵀ";
        for (std::size_t term = 2; term < names.in.size(); ++term)
            sum += " + " + names.in[term] + "[h]";
        return sum;
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::int64_t c = 0; c < width(call); ++c)
            arithmetic.add_term(
                {factor(call, 0, {at[0], at[1], at[2], c}), factor(call, 1, key(call, at, c))});
        for (std::size_t term = 2; term < call.in.size(); ++term)
            arithmetic.add_term({factor(call, term, at)});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const Axes &q = call.axes_of(0), &k = call.axes_of(1);
        std::string terms;
        for (std::size_t term = 2; term < names.in.size(); ++term)
            terms += " + " + names.in[term];
        return python_sharing_comment(q, k) + names.out + " = " + names.in[0] + " @ " + names.in[1] +
               python_shared_heads(q, k) + ".transpose(-2, -1)" + terms + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        const Operand &q = call.in[0], &k = call.in[1];
        const std::int64_t query = q.shape.offset({at[0], at[1], at[2], 0}),
                           key_row = k.shape.offset(key(call, at, 0));
        double sum = 0;
        for (std::int64_t c = 0; c < width(call); ++c)
            sum += q.number(query + c) * k.number(key_row + c);
        for (std::size_t term = 2; term < call.in.size(); ++term)
            sum += call.in[term].at(at);
        return sum;
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        if (input > 1)
            return 1;
        return input == 0 ? call.in[1].at(key(call, at, from[3]))
                          : call.in[0].at({at[0], at[1], at[2], from[3]});
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return static_cast<double>(width(call));
    }

private:
    static std::int64_t width(const Call& call) { return call.axes_of(0).size(3); }
    static Index key(const Call& call, const Index& at, std::int64_t c) {
        return {at[0], shared_head(at[1], call.axes.size(1), call.axes_of(1).size(1)), at[3], c};
    }
};

} // namespace

const Operation& dot_product() {
    static const DotProduct operation;
    return operation;
}

} // namespace headscope::graph::ops
