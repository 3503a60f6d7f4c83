#pragma once

#include "app/draw/matrix/matrix.h"

#include <memory>
#include <vector>

namespace headscope::app {

/// The largest finite number of each row of a head's map, from which the colors by row are measured; kept
/// while the trace is the same.
std::shared_ptr<const std::vector<float>> row_tops(const DrawContext& context, TensorId id,
                                                   std::int64_t head);
/// The same for a map that computes its numbers itself, with MatrixSpec::value.
std::shared_ptr<const std::vector<float>> row_tops(const MatrixSpec& spec);

} // namespace headscope::app
