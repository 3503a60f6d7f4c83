#include "core/base/message.h"
#include "core/graph/ops/attention/head_rows.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: queries, (B, T, H·dk) or (B, H, T, dk), and a number for each token, (T). The rows of each head,
/// times the number of their token (Nakanishi 2025, "Scalable-Softmax Is Superior for Attention"): the longer
/// a text, the sharper its softmax.
class TokenScale final : public Operation {
public:
    std::string_view name() const override { return "token_scale"; }
    // Translators: says, above an arrow, what a step does to the rows of a head
    std::string verb() const override { return tr("stage_table.scale_rows", "scale"); }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        const Axes rows = head_rows(call);
        expect(call, 1, call.axes_of(1).rank() == 1 && call.axes_of(1).size(0) == rows.size(2),
               Axes{rows[2]}.text());
        return rows;
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {one_cell(0, head_row_cell(call, at)), one_cell(1, {at[2]})};
    }

    std::string formula(const Call& call, const Names& names) const override {
        return names.out + "[h] = " + head_rows_formula(call, names) + " × " + names.in[1];
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        arithmetic.add_term({factor(call, 0, head_row_cell(call, at)), factor(call, 1, {at[2]})});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        return names.out + " = " + head_rows_python(call, names) + " * " + names.in[1] +
               python_repeated(call.axes_of(1), call.axes) + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return call.in[0].at(head_row_cell(call, at)) * call.in[1].at({at[2]});
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input, const Index&) const override {
        return input == 0 ? call.in[1].at({at[2]}) : call.in[0].at(head_row_cell(call, at));
    }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 1; }
};

} // namespace

const Operation& token_scale() {
    static const TokenScale operation;
    return operation;
}

} // namespace headscope::graph::ops
