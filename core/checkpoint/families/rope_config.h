#pragma once

#include "core/checkpoint/families/architecture.h"
#include "core/checkpoint/files/config_reader.h"

namespace headscope::checkpoint {

/// Turns queries and keys of every layer by one set of angles: reads the base, its scaling and the part of a
/// head that turns (partial_rotary_factor), from rope_parameters as from the older keys. dk and max_positions
/// are read already. Throws Error(input) naming the key.
void read_rope(const ConfigReader& reader, double usual_theta, Architecture& architecture);

} // namespace headscope::checkpoint
