#include "app/commands/model_commands.h"

#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/checkpoint/graph/model_stages.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// `make` computes the new row from the old one, a one-row table, and the position of the block in it.
template<class Make>
DocumentPtr change_row(const Document& document, const Block& block, const Make& make) {
    const checkpoint::EditedTable table = edited_table(document, block.tensor);
    if (!table.exists())
        fail_input(tr("common.model_no", "this model has no {}", tensor_info(block.tensor).name));
    check_inside(block, table.own());
    if (row_axis(block.tensor) == 0 && block.rows != 1)
        fail_input(tr("model_numbers.one_row_changed_time",
                      "one row of {} is changed at a time; select numbers of one row",
                      tensor_info(block.tensor).name));
    const std::span<const float> row = table.row(block.first[0]);
    Block in_row = block;
    in_row.first[0] = 0;
    const Shape shape = checkpoint::row_shape(table.own().shape());
    const TensorPtr made =
        make(Tensor(shape.rank() == 2 ? Shape{1, shape[0], shape[1]} : Shape{1, shape[0]}, row), in_row);
    return with_table_rows(document, block.tensor,
                           {{block.first[0], std::make_shared<const Tensor>(shape, made->values())}});
}

DocumentPtr change_block(const Document& document, const Block& block, const BlockOperation& operation) {
    if (!document.is_checkpoint() || !is_table(block.tensor))
        return nullptr;
    const auto* const random = std::get_if<Randomize>(&operation);
    if (random != nullptr && random->distribution != Distribution::normal && row_axis(block.tensor) == 0)
        fail_input(tr("model_numbers.xavier_matrix_rows",
                      "Xavier is for a matrix that multiplies rows, and {} is a table of rows; choose normal "
                      "with a standard deviation",
                      tensor_info(block.tensor).name));
    return change_row(document, block, [&](const Tensor& row, const Block& in_row) {
        return with_operation(row, in_row, operation);
    });
}

bool has_activation(const Document& document) {
    const checkpoint::ModelStages& stages = document.part()->model->model->stages();
    return stages.has(document.checkpoint()->place, TensorId::mlp_act);
}

void check_activation(const Document& document, const CellAddress& cell) {
    const Dims& dims = document.problem.dims;
    if (!document.is_checkpoint() || !has_activation(document))
        fail_input(tr("model_numbers.no_mlp_act_here",
                      "there is no mlp_act here; go to a layer of a checkpoint with one MLP"));
    if (cell.at[0] != 0 || cell.at[1] < 0 || cell.at[1] >= dims.Tq || cell.at[2] < 0 ||
        cell.at[2] >= dims.d_ff)
        fail_input(tr_n("model_numbers.no_such_number_mlp",
                        "there is no such number: mlp_act has {} row of {}",
                        "there is no such number: mlp_act has {} rows of {}", dims.Tq, dims.Tq, dims.d_ff));
}

} // namespace

void check_number(const EditCell& edit) {
    if (!std::isfinite(edit.value))
        fail_input(tr("model_numbers.number_must_finite_type",
                      "a number of {} must be finite; type one such as 0.25",
                      tensor_info(edit.cell.tensor).name));
}

DocumentPtr change_in_model(const Document& document, const Command& command) {
    return std::visit(
        Overloaded{[&](const EditCell& c) -> DocumentPtr {
                       check_number(c);
                       if (c.cell.tensor != TensorId::mlp_act)
                           return change_block(document, {c.cell.tensor, c.cell.at}, SetTo{c.value});
                       check_activation(document, c.cell);
                       return with_activation(document, c.cell, c.value);
                   },
                   [&](const EditBlock& c) { return change_block(document, c.block, c.operation); },
                   [&](const PasteBlock& c) -> DocumentPtr {
                       if (!document.is_checkpoint() || !is_table(c.cell.tensor))
                           return nullptr;
                       const Block block{c.cell.tensor, c.cell.at, c.table.rows, c.table.cols};
                       return change_row(document, block, [&](const Tensor& row, const Block& in_row) {
                           return with_values(row, in_row, c.table.values);
                       });
                   },
                   [&](const ResetActivation& c) -> DocumentPtr {
                       if (!document.is_checkpoint())
                           return nullptr;
                       check_activation(document, c.cell);
                       return with_activation(document, c.cell, std::nullopt);
                   },
                   [&](const SetHeadGain& c) -> DocumentPtr {
                       return document.is_checkpoint() ? with_head_gain(document, c.place, c.head, c.gain)
                                                       : nullptr;
                   },
                   [](const auto&) -> DocumentPtr { return nullptr; }},
        command);
}

} // namespace headscope::app
