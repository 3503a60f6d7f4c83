#pragma once

#include "core/project/recipe.h"

#include <vector>

namespace headscope::bench {

/// Returns the seconds from one frame to the next, of 1600 x 1000 pixels and including software GL, while the
/// Flow plays the story of a word.
std::vector<double> flow_frames(const project::Recipe& recipe);

} // namespace headscope::bench
