#include "core/graph/ops/row_norm.h"

namespace headscope::graph::ops {

Axes RowNorm::axes(const Call& call) const {
    const Axes& x = call.axes_of(0);
    expect(call, 0, x.rank() >= 1, "(B, Tq, D)");
    for (std::size_t input = 1; input < call.in.size(); ++input)
        expect(call, input, call.axes_of(input).rank() == 1 && call.axes_of(input).size(0) == x.back(0).size,
               Axes{x.back(0)}.text());
    return x;
}

NormedRow RowNorm::row_at(const Call& call, const Index& at) const {
    const int last = call.axes.rank() - 1;
    return NormedRow(call, {.eps = call.as<Norm>().eps, .centered = centered_}, call.axes.size(last),
                     [at, last](std::int64_t c) { return with(at, last, c); });
}

std::vector<ReadSpan> RowNorm::reads(const Call& call, const Index& at) const {
    std::vector<ReadSpan> spans{row_of(call, 0, at)};
    for (std::size_t input = 1; input < call.in.size(); ++input)
        spans.push_back(one_cell(input, {column(at, call.axes.rank())}));
    return spans;
}

Arithmetic RowNorm::explain(const Call& call, const Index& at) const {
    const std::int64_t c = column(at, call.axes.rank());
    Arithmetic arithmetic = row_at(call, at).explain(c);
    if (call.has(1))
        arithmetic.then(StepKind::times, factor(call, 1, {c}));
    if (call.has(2))
        arithmetic.then(StepKind::plus, factor(call, 2, {c}));
    return arithmetic;
}

void RowNorm::row(const Call& call, const Index& at, std::span<double> out) const {
    const NormedRow normed = row_at(call, at);
    for (std::size_t c = 0; c < out.size(); ++c) {
        const auto at_c = static_cast<std::int64_t>(c);
        out[c] = normed.number(at_c) * (call.has(1) ? call.in[1].at({at_c}) : 1.0) +
                 (call.has(2) ? call.in[2].at({at_c}) : 0.0);
    }
}

double RowNorm::coefficient(const Call& call, const Index& at, std::size_t input, const Index& from) const {
    const std::int64_t c = column(at, call.axes.rank());
    if (input == 2)
        return 1;
    const NormedRow normed = row_at(call, at);
    if (input == 1)
        return normed.number(c);
    return normed.coefficient(c, column(from, call.axes.rank())) * (call.has(1) ? call.in[1].at({c}) : 1.0);
}

} // namespace headscope::graph::ops
