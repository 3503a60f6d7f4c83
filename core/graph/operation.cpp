#include "core/graph/operation.h"

#include "core/base/in_order.h"
#include "core/graph/ops/ops.h"

#include <array>
#include <limits>

namespace headscope::graph {

namespace {

struct OperationRow {
    Op op;
    const Operation& (*get)();
};
constexpr std::array<OperationRow, op_count> operation_rows{{
    {Op::parameter, ops::parameter},
    {Op::input, ops::input},
    {Op::constant, ops::constant},
    {Op::embedding, ops::embedding},
    {Op::linear, ops::linear},
    {Op::add, ops::add},
    {Op::multiply, ops::multiply},
    {Op::scale, ops::scale},
    {Op::soft_cap, ops::soft_cap},
    {Op::slice, ops::slice},
    {Op::concat, ops::concat},
    {Op::rms_norm, ops::rms_norm},
    {Op::layer_norm, ops::layer_norm},
    {Op::match_magnitude, ops::match_magnitude},
    {Op::mix, ops::mix},
    {Op::split_heads, ops::split_heads},
    {Op::head_norm, ops::head_norm},
    {Op::joint_norm, ops::joint_norm},
    {Op::rotate, ops::rotate},
    {Op::token_scale, ops::token_scale},
    {Op::dot_product, ops::dot_product},
    {Op::alibi, ops::alibi},
    {Op::distance_bias, ops::distance_bias},
    {Op::relative_product, ops::relative_product},
    {Op::mask, ops::mask},
    {Op::softmax, ops::softmax},
    {Op::mean, ops::mean},
    {Op::value_sum, ops::value_sum},
    {Op::join_heads, ops::join_heads},
    {Op::head_projection, ops::head_projection},
    {Op::activation, ops::activation},
    {Op::gaussian_top_k, ops::gaussian_top_k},
    {Op::gate, ops::gate},
    {Op::route, ops::route},
    {Op::expert_linear, ops::expert_linear},
    {Op::expert_sum, ops::expert_sum},
    {Op::causal_conv, ops::causal_conv},
    {Op::decay, ops::decay},
    {Op::delta_rule, ops::delta_rule},
}};
static_assert(is_in_enum_order(operation_rows, &OperationRow::op),
              "every operation has a row, in the order of the enum");

} // namespace

const Operation& operation(Op op) {
    return operation_rows[static_cast<std::size_t>(op)].get();
}

Cost Operation::cost(const Call& call) const {
    const auto cells = static_cast<double>(call.axes.count());
    double numbers = cells;
    for (const Operand& input : call.in)
        numbers += static_cast<double>(input.shape.count());
    return {cells * multiply_adds_per_cell(call), sizeof(float) * numbers};
}

void Operation::all(const Call& call, std::span<double> out) const {
    const Shape shape = call.axes.shape();
    for (std::size_t offset = 0; offset < out.size(); ++offset)
        out[offset] = cell(call, shape.index(static_cast<std::int64_t>(offset)));
}

bool Operation::is_linear_in(const Call&, std::size_t) const {
    return false;
}

double Operation::coefficient(const Call&, const Index&, std::size_t, const Index&) const {
    return std::numeric_limits<double>::quiet_NaN();
}

double RowOperation::cell(const Call& call, const Index& at) const {
    const int last = call.axes.rank() - 1;
    std::vector<double> numbers(static_cast<std::size_t>(call.axes.size(last)));
    row(call, at, numbers);
    return numbers[static_cast<std::size_t>(at[static_cast<std::size_t>(last)])];
}

void RowOperation::all(const Call& call, std::span<double> out) const {
    const Shape shape = call.axes.shape();
    const auto width = static_cast<std::size_t>(shape.back(0));
    for (std::size_t first = 0; first < out.size(); first += width)
        row(call, shape.index(static_cast<std::int64_t>(first)), out.subspan(first, width));
}

} // namespace headscope::graph
