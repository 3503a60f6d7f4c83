#pragma once

#include "core/attention/same_bits.h"
#include "core/project/recipe.h"

namespace headscope::project {

using headscope::same_bits;
/// Bitwise equality, including edits.
bool same_bits(const Recipe& a, const Recipe& b);

} // namespace headscope::project
