#include "app/state/shown.h"

namespace headscope::app {

const Tensor* Shown::tensor(TensorId id) const {
    return is_stage(id) ? trace->stage(id) : problem().input(id);
}

float Shown::value(const CellAddress& cell) const {
    const Tensor& source = *tensor(cell.tensor);
    return source.data()[source.shape().offset(cell.at)];
}

} // namespace headscope::app
