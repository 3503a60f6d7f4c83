#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/stacks.h"
#include "core/graph/attributes.h"
#include "core/graph/node.h"
#include "core/tensor/dims.h"

#include <optional>

namespace headscope::checkpoint {

/// The words for a weight: those of the stage table where that has a row for it.
graph::Label label_of(TensorId weight);

/// The axes of a weight as Model returns it. `dims` are those of the attention that reads the weight.
graph::Axes axes_of(TensorId weight, const Architecture& architecture, const Dims& dims);

/// The tensor of a checkpoint file that holds a weight.
struct WeightSource {
    graph::Parameter parameter; ///< its name is the one in files that the library of the family saves
    bool may_lack = false;      ///< a file without the tensor means zeros
};
/// Returns the source of a weight of an attention (or of the MLP after it), or, in layer -1, of a weight
/// around the layers of a stack. `architecture` is that of the stack. Empty if the model has no such weight:
/// a tied output table, a projection without a bias, sinusoidal positions.
std::optional<WeightSource> find_source(const Architecture& architecture, AttentionPlace place,
                                        TensorId weight);

} // namespace headscope::checkpoint
