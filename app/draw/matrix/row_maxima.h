#pragma once

#include "app/draw/matrix/matrix.h"

#include <memory>
#include <vector>

namespace headscope::app {

/// The largest finite number of each row of a head's map, the reference of colors by row. Cached while the
/// trace is the same.
std::shared_ptr<const std::vector<float>> row_maxima(const DrawContext& context, TensorId id,
                                                     std::int64_t head);
/// Row maxima of a map with computed numbers (MatrixSpec::value).
std::shared_ptr<const std::vector<float>> row_maxima(const MatrixSpec& spec);

} // namespace headscope::app
