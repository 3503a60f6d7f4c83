#pragma once

#include "app/draw/kit/picture.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// A run of D numbers of a weight as one row of cells, which can be selected and edited.
struct WeightStrip {
    TensorId tensor;
    Index origin; ///< its first number
    int axis;     ///< along which it runs
    std::string name;
    std::optional<TensorId> bias = {}; ///< one number of it stands at the end of the row
};

/// The runs one below the other under a title, on one colour scale with its legend. Returns the lower edge.
float draw_weight_strips(Picture& picture, const DrawContext& context, const std::string& title,
                         const std::string& says, const std::vector<WeightStrip>& strips, float y);
/// The height that it takes for so many runs.
float weight_strips_height(std::size_t count);

} // namespace headscope::app
