#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <string>

namespace headscope::graph::ops {

namespace {

/// Inputs: x (B, H, T, dk), queries or keys by head, and P (rows, H·dk), the vectors of relative positions.
/// With queries, the number of query i and key j is the product of query i with the row of their distance;
/// with keys, that of key j with this row: (B, H, T, T) (He et al. 2021, "DeBERTa", equation 4). Both read
/// the row of i - j, as Hugging Face's DeBERTa-v2 does; the equation has j - i for keys.
class RelativeProductOperation final : public Operation {
public:
    std::string_view name() const override { return "relative_product"; }
    Page page(Step) const override { return Page::maps; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 4);
        expect_rank(call, 1, 2);
        const Axes &x = call.axes_of(0), &P = call.axes_of(1);
        const Axis columns = product(x[1], x[3]);
        const bool fits = P.size(0) == call.as<RelativeProduct>().rows.count() && P.size(1) == columns.size;
        expect(call, 1, fits, Axes{{P[0].name, call.as<RelativeProduct>().rows.count()}, columns}.text());
        return {x[0], {"H", x.size(1)}, {"Tq", x.size(2)}, {"Tk", x.size(2)}};
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {row_of(call, 0, vector_cell(call, at, 0)), {1, position_cell(call, at, 0), 1, width(call)}};
    }

    std::string formula(const Call& call, const Names& names) const override {
        return names.out + "[h, i, j] = " + names.in[0] +
               (call.as<RelativeProduct>().of_keys ? "[h, j] · " : "[h, i] · ") + names.in[1] +
               "[row(i − j), h]";
    }

    Arithmetic explain(const Call& call, const Index& at) const override {
        Arithmetic arithmetic;
        for (std::int64_t c = 0; c < width(call); ++c)
            arithmetic.add_term(
                {factor(call, 0, vector_cell(call, at, c)), factor(call, 1, position_cell(call, at, c))});
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& relative = call.as<RelativeProduct>();
        const Axes& x = call.axes_of(0);
        const std::int64_t T = x.size(2);
        std::string rows;
        for (std::int64_t distance = -(T - 1); distance < T; ++distance)
            rows += (rows.empty() ? "" : ", ") + std::to_string(relative.rows.row_of(distance));
        const std::string products = "(" + names.in[0] + " @ " + names.in[1] + ".unflatten(-1, " +
                                     python_pair(x[1], x[3]) + ").permute(1, 2, 0))";
        // Rows of keys are turned into columns: the distance is i - j in both.
        const std::string i = "torch.arange(Tq).reshape(-1, 1)", j = "torch.arange(Tk)";
        const std::string distances =
            relative.of_keys ? "torch.arange(Tq) - torch.arange(Tk).reshape(-1, 1)" : i + " - " + j;
        return "# The row of each distance i - j from -(T - 1) to T - 1 (He et al. 2021, \"DeBERTa\").\n"
               "rows = torch.tensor([" +
               rows + "])\nrow_of = rows[" + distances + " + " + std::to_string(T - 1) + "]\n" + names.out +
               " = " + products + ".gather(-1, row_of.expand(" + std::to_string(x.size(0)) + ", " +
               std::to_string(x.size(1)) + ", " + std::to_string(T) + ", " + std::to_string(T) + "))" +
               (relative.of_keys ? ".transpose(-2, -1)" : "") + "\n";
    }

    double cell(const Call& call, const Index& at) const override {
        const Operand &x = call.in[0], &P = call.in[1];
        const std::int64_t vector = x.shape.offset(vector_cell(call, at, 0)),
                           position = P.shape.offset(position_cell(call, at, 0));
        double sum = 0;
        for (std::int64_t c = 0; c < width(call); ++c)
            sum += x.number(vector + c) * P.number(position + c);
        return sum;
    }

    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        return input == 0 ? call.in[1].at(position_cell(call, at, from[3]))
                          : call.in[0].at(vector_cell(call, at, from[1] - at[1] * width(call)));
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return static_cast<double>(width(call));
    }

private:
    static std::int64_t width(const Call& call) { return call.axes_of(0).size(3); }
    static Index vector_cell(const Call& call, const Index& at, std::int64_t c) {
        return {at[0], at[1], call.as<RelativeProduct>().of_keys ? at[3] : at[2], c};
    }
    static Index position_cell(const Call& call, const Index& at, std::int64_t c) {
        return {call.as<RelativeProduct>().rows.row_of(at[2] - at[3]), at[1] * width(call) + c};
    }
};

} // namespace

const Operation& relative_product() {
    static const RelativeProductOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
