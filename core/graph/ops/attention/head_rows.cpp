#include "core/graph/ops/attention/head_rows.h"

#include "core/graph/ops/common.h"

namespace headscope::graph::ops {

namespace {

bool has_columns(const Call& call) {
    return call.axes_of(0).rank() == 3;
}

} // namespace

Axes head_rows(const Call& call) {
    const Axes& x = call.axes_of(0);
    if (!has_columns(call)) {
        expect(call, 0, x.rank() == 4, "(B, H, Tq, dk)");
        return x;
    }
    expect(call, 0, x[2].is_product(), "(B, Tq, H·dk)");
    return {x[0], x[2].outer_axis(), x[1], x[2].inner_axis()};
}

Index head_row_cell(const Call& call, const Index& at) {
    return has_columns(call) ? Index{at[0], at[2], at[1] * call.axes_of(0)[2].inner + at[3], 0} : at;
}

ReadSpan head_row_span(const Call& call, const Index& at) {
    const std::int64_t width = has_columns(call) ? call.axes_of(0)[2].inner : call.axes_of(0).size(3);
    return {0, head_row_cell(call, with(at, 3, 0)), has_columns(call) ? 2 : 3, width};
}

std::string head_rows_formula(const Call& call, const Names& names) {
    if (!has_columns(call))
        return names.in[0] + "[h]";
    const std::string width = call.axes_of(0)[2].inner_axis().name;
    return names.in[0] + "[:, h·" + width + " : (h+1)·" + width + "]";
}

std::string head_rows_python(const Call& call, const Names& names) {
    if (!has_columns(call))
        return names.in[0];
    const Axis& columns = call.axes_of(0)[2];
    return names.in[0] + ".unflatten(-1, " + python_pair(columns.outer_axis(), columns.inner_axis()) +
           ").transpose(1, 2)";
}

} // namespace headscope::graph::ops
