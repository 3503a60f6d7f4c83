#pragma once

#include "core/graph/axes.h"
#include "core/tensor/dims.h"

#include <initializer_list>

namespace headscope::graph {

/// The axis of that kind with its size: Axis::H_dk gives {"H·dk", H dk, dk}.
Axis axis_of(headscope::Axis kind, const Dims& dims);
Axes axes_of(std::initializer_list<headscope::Axis> kinds, const Dims& dims);

} // namespace headscope::graph
