#include "app/draw/block/delta_inspector.h"

#include "app/draw/block/block_parts.h"
#include "app/draw/inspector/inspector_words.h"
#include "app/draw/matrix/terms.h"
#include "core/base/message.h"
#include "core/graph/operation.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using enum TensorId;

/// The numbers of a delta layer as its block has them.
class DeltaNumbers {
public:
    explicit DeltaNumbers(const Sheet& sheet) : shown_(sheet.context.shown), block_(*shown_.block) {}

    const Dims& dims() const { return shown_.dims(); }
    double weight(TensorId id, std::int64_t row, std::int64_t column) const {
        return static_cast<double>(block_.weights[id]->at(row, column));
    }
    /// The tokens that a convolution reads.
    std::int64_t tokens_of(TensorId convolution) const { return block_.weights[convolution]->shape()[0]; }
    double weight(TensorId id, std::int64_t at) const {
        return static_cast<double>(block_.weights[id]->at(at));
    }
    double value(TensorId id, std::int64_t row, std::int64_t column) const {
        return static_cast<double>(shown_.value({id, {0, row, column}}));
    }
    /// The terms of norm1[row] · weight[:, column].
    std::vector<Term> product(std::int64_t row, TensorId id, std::int64_t column) const {
        std::vector<Term> terms;
        const std::span<const float> x = row_of(shown_, norm1, row);
        for (std::size_t d = 0; d < x.size(); ++d) {
            const auto left = static_cast<double>(x[d]),
                       right = weight(id, static_cast<std::int64_t>(d), column);
            terms.push_back({.label = std::to_string(d), .factors = {{left, right}}, .value = left * right});
        }
        return terms;
    }
    static double sum(const std::vector<Term>& terms) {
        double total = 0;
        for (const Term& term : terms)
            total += term.value;
        return total;
    }

private:
    const Shown& shown_;
    const checkpoint::BlockTrace& block_;
};

std::string place_text(std::int64_t number) {
    return std::to_string(number);
}

std::string fixed(double value) {
    return number(value, 4);
}

double silu(double x) {
    return x / (1 + std::exp(-x));
}

/// A product of the layer's input with a column of a parameter. Returns the sum.
double add_input_product(Sheet& sheet, const DeltaNumbers& numbers, std::int64_t row, TensorId weight,
                         const std::string& name, std::int64_t column, const std::string& total_name) {
    sheet.section(tr("common.dot_product", "Dot product"),
                  "norm1 · " + name + "[:, " + place_text(column) + "]");
    const std::vector<Term> terms = numbers.product(row, weight, column);
    const double sum = DeltaNumbers::sum(terms);
    draw_terms(sheet, {.columns = {"d", "norm1", name, tr("common.product", "product")},
                       .groups = {{.terms = terms}},
                       .name = total_name,
                       .total = sum});
    return sum;
}

struct ConvolvedWeights {
    TensorId projection, convolution;
    const char *projection_name, *convolution_name;
};

/// A query, key or value: the convolution, its activation and, for queries and keys, the length of the head.
int add_convolved(Sheet& sheet, const DeltaNumbers& numbers, const CellAddress& cell,
                  const ConvolvedWeights& weights) {
    const Dims& d = numbers.dims();
    const std::int64_t i = cell.at[1], K = numbers.tokens_of(weights.convolution);
    const auto mixed = [&](std::int64_t column) {
        std::vector<Term> terms;
        for (std::int64_t back = std::min(K - 1, i); back >= 0; --back) {
            const double x = DeltaNumbers::sum(numbers.product(i - back, weights.projection, column)),
                         w = numbers.weight(weights.convolution, K - 1 - back, column);
            terms.push_back({.label = shortened(query_word(sheet.context.shown.problem(), i - back), 10),
                             .factors = {{x, w}},
                             .value = x * w});
        }
        return terms;
    };
    const std::vector<Term> terms = mixed(cell.at[2]);
    const double sum = DeltaNumbers::sum(terms), active = silu(sum);
    sheet.section(tr("delta_inspector.convolution", "Convolution over the last tokens"),
                  std::string(weights.convolution_name) + "[:, " + place_text(cell.at[2]) + "]");
    draw_terms(sheet,
               {.columns = {tr("common.token", "token"), std::string("norm1 · ") + weights.projection_name,
                            weights.convolution_name, tr("common.product", "product")},
                .words = true,
                .groups = {{.terms = terms}},
                .name = tr("common.sum", "sum"),
                .total = sum});
    sheet.section(tr("common.activation", "Activation"), "silu");
    sheet.arithmetic("silu(" + fixed(sum) + ")", fixed(active));
    if (cell.tensor == delta_v)
        return 4;
    double squares = 0;
    const std::int64_t first = cell.at[2] / d.delta_dk * d.delta_dk;
    for (std::int64_t c = first; c < first + d.delta_dk; ++c)
        squares += std::pow(silu(DeltaNumbers::sum(mixed(c))), 2);
    const double length = std::sqrt(squares + 1e-6);
    sheet.section(tr("delta_inspector.length", "Length of the head’s row"),
                  tr("delta_inspector.root_of_squares", "√(sum of its squares + ε)"));
    sheet.arithmetic("√" + fixed(squares), fixed(length));
    sheet.arithmetic(fixed(active) + " ÷ " + fixed(length), fixed(numbers.value(cell.tensor, i, cell.at[2])));
    return 4;
}

int add_decay(Sheet& sheet, const DeltaNumbers& numbers, const CellAddress& cell) {
    const std::int64_t h = cell.at[2];
    const double sum = add_input_product(sheet, numbers, cell.at[1], delta_W_A, "W_a", h,
                                         tr("common.sum", "sum")),
                 bias = numbers.weight(delta_dt_bias, h), x = sum + bias,
                 softplus = x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)),
                 A_log = numbers.weight(delta_A_log, h);
    sheet.section(tr("delta_inspector.step", "Step"), "softplus(a + dt_bias[" + place_text(h) + "])");
    sheet.arithmetic("softplus(" + fixed(sum) + " + " + fixed(bias) + ")", fixed(softplus));
    sheet.section(tr("delta_inspector.decay", "Decay"), "exp(−exp(A_log[" + place_text(h) + "]) · step)");
    sheet.arithmetic("exp(−exp(" + fixed(A_log) + ") · " + fixed(softplus) + ")",
                     fixed(numbers.value(delta_decay, cell.at[1], h)));
    return 4;
}

int add_beta(Sheet& sheet, const DeltaNumbers& numbers, const CellAddress& cell) {
    const double sum =
        add_input_product(sheet, numbers, cell.at[1], delta_W_B, "W_b", cell.at[2], tr("common.sum", "sum"));
    sheet.section(tr("common.activation", "Activation"), "sigmoid");
    sheet.arithmetic("sigmoid(" + fixed(sum) + ")", fixed(numbers.value(delta_beta, cell.at[1], cell.at[2])));
    return 4;
}

/// The operation of the graph explains its own cell.
int add_read_out(Sheet& sheet, const DeltaNumbers& numbers, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const Dims& d = numbers.dims();
    const std::int64_t T = shown.block->T();
    const graph::Axis tokens{"Tq", T}, keys{"Hqk·dk", d.delta_Hqk * d.delta_dk, d.delta_dk},
        values{"H·dv", d.delta_H * d.delta_dv, d.delta_dv}, heads{"H", d.delta_H};
    const std::vector<graph::Axes> axes{{{"B", 1}, tokens, keys},
                                        {{"B", 1}, tokens, keys},
                                        {{"B", 1}, tokens, values},
                                        {{"B", 1}, tokens, heads},
                                        {{"B", 1}, tokens, heads}};
    std::vector<std::vector<double>> inputs;
    std::vector<graph::Operand> operands;
    inputs.reserve(axes.size());
    for (const TensorId id : {delta_q, delta_k, delta_v, delta_decay, delta_beta}) {
        const std::span<const float> from = shown.tensor(id)->values();
        inputs.emplace_back(from.begin(), from.end());
        operands.emplace_back(axes[inputs.size() - 1], inputs.back().data());
    }
    const graph::Attributes none;
    const graph::Arithmetic arithmetic =
        graph::operation(graph::Op::delta_rule).explain({none, operands, axes[2]}, cell.at);
    const std::int64_t h = cell.at[2] / d.delta_dv, c = cell.at[2] % d.delta_dv;
    sheet.section(tr("delta_inspector.read_out", "What the query reads of the state"),
                  "q · S[:, " + place_text(c) + "]");
    std::vector<Term> terms;
    for (std::size_t at = 0; at < arithmetic.terms.size(); ++at) {
        const graph::Term& term = arithmetic.terms[at];
        terms.push_back({.label = std::to_string(at),
                         .factors = {{term.factors[0].value, term.factors[1].value}},
                         .value = term.value});
    }
    const int decimals = draw_terms(sheet, {.columns = {"d", "q", "S", tr("common.product", "product")},
                                            .groups = {{.terms = std::move(terms)}},
                                            .name = tr("common.sum", "sum"),
                                            .total = arithmetic.sum});
    sheet.arithmetic(fixed(arithmetic.sum) + " ÷ √" + place_text(d.delta_dk),
                     fixed(numbers.value(delta_y, cell.at[1], cell.at[2])));
    sheet.section(tr("delta_inspector.state", "The state S of head {}", h),
                  place_text(d.delta_dk) + " × " + place_text(d.delta_dv));
    sheet.row(tr("delta_inspector.stays", "stays from the token before"),
              fixed(numbers.value(delta_decay, cell.at[1], h)));
    sheet.row(tr("delta_inspector.replaced", "replaced under the key"),
              fixed(numbers.value(delta_beta, cell.at[1], h)));
    sheet.paragraph(tr("delta_inspector.state_words",
                       "At each token S is multiplied by the decay. Then beta times the difference between "
                       "the value and what S has under the key is added in the direction of the key."),
                    sheet.context.theme.muted);
    return decimals;
}

int add_output(Sheet& sheet, const DeltaNumbers& numbers, const CellAddress& cell) {
    const Dims& d = numbers.dims();
    const std::int64_t i = cell.at[1];
    std::vector<Term> terms;
    for (std::int64_t h = 0; h < d.delta_H; ++h) {
        double squares = 0;
        for (std::int64_t c = 0; c < d.delta_dv; ++c)
            squares += std::pow(numbers.value(delta_y, i, h * d.delta_dv + c), 2);
        const double root =
            std::sqrt(squares / static_cast<double>(d.delta_dv) +
                      sheet.context.shown.block->stages->delta_eps(sheet.context.shown.block->place));
        for (std::int64_t c = 0; c < d.delta_dv; ++c) {
            const std::int64_t at = h * d.delta_dv + c;
            const double gated = numbers.value(delta_y, i, at) / root * numbers.weight(delta_norm, c) *
                                 silu(numbers.value(delta_z, i, at)),
                         weight = numbers.weight(delta_W_out, at, cell.at[2]);
            terms.push_back({.label = place_text(at), .factors = {{gated, weight}}, .value = gated * weight});
        }
    }
    sheet.section(tr("common.dot_product", "Dot product"),
                  "(norm(y) × silu(z)) · W_out[:, " + place_text(cell.at[2]) + "]");
    return draw_terms(sheet, {.columns = {"d", "norm(y) × silu(z)", "W_out", tr("common.product", "product")},
                              .groups = {{.terms = std::move(terms)}},
                              .name = address_text(sheet.context.shown, cell),
                              .total = numbers.value(TensorId::delta_out, i, cell.at[2])});
}

} // namespace

int add_delta(Sheet& sheet, const CellAddress& cell) {
    const DeltaNumbers numbers(sheet);
    switch (cell.tensor) {
    case delta_q:
        return add_convolved(sheet, numbers, cell, {delta_W_Q, delta_conv_Q, "W_q", "conv_q"});
    case delta_k:
        return add_convolved(sheet, numbers, cell, {delta_W_K, delta_conv_K, "W_k", "conv_k"});
    case delta_v:
        return add_convolved(sheet, numbers, cell, {delta_W_V, delta_conv_V, "W_v", "conv_v"});
    case delta_decay:
        return add_decay(sheet, numbers, cell);
    case delta_beta:
        return add_beta(sheet, numbers, cell);
    case delta_y:
        return add_read_out(sheet, numbers, cell);
    case delta_z:
        add_input_product(sheet, numbers, cell.at[1], delta_W_Z, "W_z", cell.at[2],
                          address_text(sheet.context.shown, cell));
        return 4;
    default:
        return add_output(sheet, numbers, cell);
    }
}

} // namespace headscope::app
