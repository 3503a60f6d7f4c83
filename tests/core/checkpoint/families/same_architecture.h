#pragma once

#include "core/checkpoint/architecture/architecture.h"

namespace headscope::test {

/// Returns true if both compute the same: every field is equal, including those of the encoders.
bool same_architecture(const checkpoint::Architecture& one, const checkpoint::Architecture& other);

} // namespace headscope::test
