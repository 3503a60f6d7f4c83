#include "core/base/message.h"
#include "core/graph/ops/attention/head_rows.h"
#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Input: x (B, T, H·dk). The columns of each head as rows of its own: (B, H, T, dk).
class SplitHeads final : public Operation {
public:
    std::string_view name() const override { return "split_heads"; }
    // Translators: says, above an arrow, what a step does to the rows of a head
    std::string verb() const override { return tr("split_heads.move", "move"); }
    Page page(Step step) const override { return page_of(step); }
    Axes axes(const Call& call) const override { return head_rows(call); }
    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {one_cell(0, head_row_cell(call, at))};
    }
    std::string formula(const Call& call, const Names& names) const override {
        return names.out + "[h] = " + head_rows_formula(call, names);
    }
    Arithmetic explain(const Call& call, const Index& at) const override {
        return Arithmetic::of(factor(call, 0, head_row_cell(call, at)));
    }
    std::string pytorch(const Call& call, const Names& names) const override {
        return names.out + " = " + head_rows_python(call, names) + "\n";
    }
    double cell(const Call& call, const Index& at) const override {
        return call.in[0].at(head_row_cell(call, at));
    }
    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call&, const Index&, std::size_t, const Index&) const override { return 1; }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 0; }
};

} // namespace

const Operation& split_heads() {
    static const SplitHeads operation;
    return operation;
}

} // namespace headscope::graph::ops
