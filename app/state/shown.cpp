#include "app/state/shown.h"

namespace headscope::app {

namespace {

bool lies_around(TensorId id) {
    return tensor_info(id).operation == Operation::around;
}

} // namespace

const Tensor* Shown::tensor(TensorId id) const {
    if (lies_around(id))
        return block == nullptr ? nullptr : (*block)[id].get();
    return is_stage(id) ? trace->stage(id) : problem().input(id);
}

bool Shown::holds(const CellAddress& cell) const {
    const bool one_row = cell.tensor == TensorId::logits || cell.tensor == TensorId::probabilities;
    return tensor(cell.tensor) != nullptr && (!one_row || cell.at[1] == block->position);
}

std::shared_ptr<const void> Shown::holder(TensorId id) const {
    if (lies_around(id))
        return block;
    return is_stage(id) ? std::shared_ptr<const void>(trace) : std::shared_ptr<const void>(document);
}

float Shown::value(const CellAddress& cell) const {
    if (lies_around(cell.tensor))
        return block->value(cell.tensor, cell.at);
    const Tensor& source = *tensor(cell.tensor);
    return source.data()[source.shape().offset(cell.at)];
}

std::int64_t row_around(const ViewState& view, std::int64_t otherwise) {
    if (view.selected && lies_around(view.selected->tensor))
        return view.selected->at[1];
    return view.row >= 0 ? view.row : otherwise;
}

} // namespace headscope::app
