#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: ids (any axes), table (rows, D). The row of the table for each id, times a factor (Vaswani et al.
/// 2017, section 3.4).
class EmbeddingOperation final : public Operation {
public:
    std::string_view name() const override { return "embedding"; }
    Page page(Step) const override { return Page::residual; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 1, 2);
        const Axes& ids = call.axes_of(0);
        expect(call, 0, ids.rank() < Shape::max_rank, "(B, Tq)");
        std::vector<Axis> axes(ids.begin(), ids.end());
        axes.push_back(call.axes_of(1)[1]);
        return Axes(std::move(axes));
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        const Index id = id_cell(call, at);
        if (call.in[0].known())
            return {one_cell(0, id), one_cell(1, table_cell(call, at))};
        return {one_cell(0, id), {1, {0, column(at, call.axes.rank())}, 0, call.axes_of(1).size(0)}};
    }

    std::string formula(const Call& call, const Names& names) const override {
        const double factor = call.as<Embedding>().factor;
        return names.out + " = " + names.in[1] + "[" + names.in[0] + "]" +
               (factor == 1 ? "" : " · " + rounded_text(factor));
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic = Arithmetic::of(factor(call, 1, table_cell(call, at)));
        if (const double factor = call.as<Embedding>().factor; factor != 1)
            arithmetic.then(StepKind::times, number(factor));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const double factor = call.as<Embedding>().factor;
        return names.out + " = " + names.in[1] + "[" + names.in[0] + "]" +
               (factor == 1 ? "" : " * " + number_text(factor)) + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return call.in[1].at(table_cell(call, at)) * call.as<Embedding>().factor;
    }

    bool is_linear_in(const Call&, std::size_t input) const override { return input == 1; }
    double coefficient(const Call& call, const Index&, std::size_t, const Index&) const override {
        return call.as<Embedding>().factor;
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return call.as<Embedding>().factor == 1 ? 0 : 1;
    }

private:
    static Index id_cell(const Call& call, const Index& at) { return with(at, call.axes.rank() - 1, 0); }
    static Index table_cell(const Call& call, const Index& at) {
        return {static_cast<std::int64_t>(call.in[0].at(id_cell(call, at))), column(at, call.axes.rank())};
    }
};

} // namespace

const Operation& embedding() {
    static const EmbeddingOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
