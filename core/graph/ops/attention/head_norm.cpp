#include "core/base/message.h"
#include "core/graph/ops/attention/head_rows.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/normed_row.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: queries or keys, (B, T, H·dk) or (B, H, T, dk), and a weight (dk). The norm of each head's row
/// (Henry et al. 2020, "Query-Key Normalization"): RMSNorm, or LayerNorm if it is centered.
class HeadNorm final : public RowOperation {
public:
    std::string_view name() const override { return "head_norm"; }
    // Translators: says, above an arrow, what a step does to the rows of a head
    std::string verb() const override { return tr("stage_table.norm", "norm"); }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const Axes rows = head_rows(call);
        expect(call, 1, call.axes_of(1).rank() == 1 && call.axes_of(1).size(0) == rows.size(3),
               Axes{rows[3]}.text());
        return rows;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {head_row_span(call, at), one_cell(1, {at[3]})};
    }

    std::string formula(const Call& call, const Names& names) const override {
        const std::string rows = head_rows_formula(call, names);
        return call.as<Norm>().centered
                   ? tr("graph.head_layer_norm", "{}[h] = ({} − mean) / √(variance + ε) · {}", names.out,
                        rows, names.in[1])
                   : tr("graph.head_norm", "{}[h] = {} / √(mean of its squares + ε) · {}", names.out, rows,
                        names.in[1]);
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic = row_at(call, at).explain(at[3]);
        arithmetic.then(StepKind::times, factor(call, 1, {at[3]}));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const std::string& y = names.out;
        const auto& norm = call.as<Norm>();
        std::string lines = y + " = " + head_rows_python(call, names) + "\n";
        if (norm.centered)
            lines += y + " = " + y + " - " + y + ".mean(dim=-1, keepdim=True)\n";
        return lines + y + " = " + y + " * torch.rsqrt(" + y + ".square().mean(dim=-1, keepdim=True) + " +
               number_text(norm.eps) + ") * " + names.in[1] + "\n";
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        const NormedRow normed = row_at(call, at);
        if (input == 1)
            return normed.number(at[3]);
        const std::int64_t c = call.axes_of(0).rank() == 3 ? from[2] % call.axes.size(3) : from[3];
        return normed.coefficient(at[3], c) * call.in[1].at({at[3]});
    }

protected:
    void row(const Call& call, const Index& at, std::span<double> out) const override {
        const NormedRow normed = row_at(call, at);
        for (std::int64_t c = 0; c < call.axes.size(3); ++c)
            out[static_cast<std::size_t>(c)] = normed.number(c) * call.in[1].at({c});
    }
    double multiply_adds_per_cell(const Call&) const override { return 3; }

private:
    static NormedRow row_at(const Call& call, const Index& at) {
        return NormedRow(call, call.as<Norm>(), call.axes.size(3),
                         [&call, at](std::int64_t c) { return head_row_cell(call, with(at, 3, c)); });
    }
};

} // namespace

const Operation& head_norm() {
    static const HeadNorm operation;
    return operation;
}

} // namespace headscope::graph::ops
