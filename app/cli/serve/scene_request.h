#pragma once

#include "core/figure/figure.h"

#include <nlohmann/json_fwd.hpp>

namespace headscope::cli {

/// Reads a picture from JSON: "width", "height" and "items", each a text, a rectangle or a grid of colored
/// cells; assets/manual/scripts.md describes them. Throws Error(input) for anything else, and for more than
/// figure::largest_png_side logical pixels per side.
figure::Scene read_scene(const nlohmann::json& described);

} // namespace headscope::cli
