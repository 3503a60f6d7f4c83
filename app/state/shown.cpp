#include "app/state/shown.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// Returns true for tensors of a checkpoint's layer outside its attention.
bool lies_around(TensorId id) {
    return is_block_stage(id) || is_block_weight(id);
}

/// Returns the index of a cell along an axis; nothing if its tensor does not have the axis.
std::optional<std::int64_t> place_along(Axis wanted, const CellAddress& cell) {
    const auto& axes = tensor_info(cell.tensor).axes;
    const auto axis = std::ranges::find(axes, wanted);
    return axis == axes.end() ? std::nullopt
                              : std::optional(cell.at[static_cast<std::size_t>(axis - axes.begin())]);
}

/// Returns the index of the entry of a row with the largest absolute value. `row` is clamped to the tensor.
std::int64_t largest_in_row(const Tensor& tensor, std::int64_t row) {
    const std::int64_t width = tensor.shape().back(0);
    row = std::clamp<std::int64_t>(row, 0, tensor.shape().back(1) - 1);
    const auto numbers =
        tensor.values().subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
    return std::ranges::max_element(numbers, {}, [](float v) { return std::abs(v); }) - numbers.begin();
}

} // namespace

const Tensor* Shown::tensor(TensorId id) const {
    if (lies_around(id))
        return block == nullptr ? nullptr : block->find(id).get();
    if (is_stage(id))
        return trace == nullptr ? nullptr : trace->stage(id);
    return problem().input(id);
}

bool Shown::is_known(const CellAddress& cell) const {
    const Tensor* const numbers = tensor(cell.tensor);
    if (numbers == nullptr)
        return false;
    const bool one_row = cell.tensor == TensorId::logits || cell.tensor == TensorId::probabilities;
    for (int axis = 0; axis < numbers->shape().rank(); ++axis) {
        const std::int64_t at = cell.at[static_cast<std::size_t>(axis)];
        if (one_row && axis == 1 ? at != block->position : at < 0 || at >= numbers->shape()[axis])
            return false;
    }
    return true;
}

std::shared_ptr<const void> Shown::owner(TensorId id) const {
    if (is_block_weight(id))
        return block->find(id);
    if (is_block_stage(id))
        return block;
    return is_stage(id) ? std::shared_ptr<const void>(trace) : std::shared_ptr<const void>(document);
}

float Shown::value(const CellAddress& cell) const {
    if (lies_around(cell.tensor))
        return block->value(cell.tensor, cell.at);
    const Tensor& source = *tensor(cell.tensor);
    return source.data()[source.shape().offset(cell.at)];
}

checkpoint::AttentionPlace current_block_place(const ViewState& view) {
    const checkpoint::Stack stack = view.attention.stack;
    if (&view.step_strip.section_with(view.group) != &view.step_strip.layer)
        return {stack, -1};
    return {stack, std::clamp<std::int64_t>(view.attention.layer, 0,
                                            std::max<std::int64_t>(view.step_strip.layers - 1, 0))};
}

std::int64_t current_row(const ViewState& view, std::int64_t otherwise) {
    if (view.selected && is_block_stage(view.selected->tensor))
        return view.selected->at[1];
    return view.row >= 0 ? view.row : otherwise;
}

std::optional<std::int64_t> unit_of(const CellAddress& cell) {
    const auto unit = place_along(Axis::d_ff, cell);
    return unit ? unit : place_along(Axis::d_expert, cell);
}

std::optional<std::int64_t> expert_of(const CellAddress& cell) {
    return is_block_weight(cell.tensor) || cell.tensor == TensorId::routing ? place_along(Axis::experts, cell)
                                                                            : std::nullopt;
}

std::int64_t current_expert(const Shown& shown, const ViewState& view) {
    const auto cell = view.drag ? std::optional(view.drag->cell) : view.selected;
    if (const auto expert = cell ? expert_of(*cell) : std::nullopt)
        return *expert;
    return largest_in_row(*shown.tensor(TensorId::routing), current_row(view, shown.position));
}

std::int64_t current_unit(const Shown& shown, const ViewState& view) {
    const auto cell = view.drag ? std::optional(view.drag->cell) : view.selected;
    if (const auto unit = cell && shown.tensor(cell->tensor) != nullptr ? unit_of(*cell) : std::nullopt)
        return *unit;
    return largest_in_row(*shown.tensor(group_info(view.group).main), current_row(view, shown.position));
}

} // namespace headscope::app
