#include "core/base/message.h"
#include "core/graph/ops/attention/head_rows.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/normed_row.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: queries or keys (B, T, H·dk), and a weight (H·dk). RMSNorm of the row of all heads, then the rows
/// of each head (OLMo Team 2024, "2 OLMo 2 Furious").
class JointNorm final : public RowOperation {
public:
    std::string_view name() const override { return "joint_norm"; }
    std::string verb() const override { return tr("stage_table.norm", "norm"); }
    Page page(Step) const override { return Page::split; }

    Axes axes(const Call& call) const override {
        const Axes& x = call.axes_of(0);
        expect(call, 0, x.rank() == 3 && x[2].is_product(), "(B, Tq, H·dk)");
        expect(call, 1, call.axes_of(1).rank() == 1 && call.axes_of(1).size(0) == x.size(2),
               Axes{x[2]}.text());
        return head_rows(call);
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {row_of(call, 0, {at[0], at[2]}), one_cell(1, {joined_column(call, at)})};
    }

    std::string formula(const Call& call, const Names& names) const override {
        const std::string width = call.axes[3].name;
        return tr("graph.joint_norm",
                  "{0}[h] = columns h·{1} to (h+1)·{1} of {2} / √(mean of its squares + ε) · {3}", names.out,
                  width, names.in[0], names.in[1]);
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        const std::int64_t c = joined_column(call, at);
        Arithmetic arithmetic = row_at(call, at).explain(c);
        arithmetic.then(StepKind::times, factor(call, 1, {c}));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const std::string& x = names.in[0];
        return names.out + " = " + x + " * torch.rsqrt(" + x + ".square().mean(dim=-1, keepdim=True) + " +
               number_text(call.as<Norm>().eps) + ") * " + names.in[1] + "\n" + names.out + " = " +
               names.out + ".unflatten(-1, " + python_pair(call.axes[1], call.axes[3]) +
               ").transpose(1, 2)\n";
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        const std::int64_t c = joined_column(call, at);
        const NormedRow normed = row_at(call, at);
        return input == 1 ? normed.number(c) : normed.coefficient(c, from[2]) * call.in[1].at({c});
    }

protected:
    void row(const Call& call, const Index& at, std::span<double> out) const override {
        const NormedRow normed = row_at(call, at);
        for (std::int64_t c = 0; c < call.axes.size(3); ++c) {
            const std::int64_t joined = joined_column(call, with(at, 3, c));
            out[static_cast<std::size_t>(c)] = normed.number(joined) * call.in[1].at({joined});
        }
    }
    double multiply_adds_per_cell(const Call&) const override { return 3; }

private:
    static std::int64_t joined_column(const Call& call, const Index& at) {
        return at[1] * call.axes.size(3) + at[3];
    }
    static NormedRow row_at(const Call& call, const Index& at) {
        return NormedRow(call, call.as<Norm>(), call.axes_of(0).size(2), [at](std::int64_t c) {
            return Index{at[0], at[2], c};
        });
    }
};

} // namespace

const Operation& joint_norm() {
    static const JointNorm operation;
    return operation;
}

} // namespace headscope::graph::ops
