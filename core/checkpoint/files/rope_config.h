#pragma once

#include "core/checkpoint/files/config.h"
#include "core/checkpoint/files/config_reader.h"

namespace headscope::checkpoint {

/// Reads rope_theta and what rope_parameters or rope_scaling says into the config, whose dk and max_positions
/// are read already. Throws Error(input) naming the key.
void read_rope(const ConfigReader& reader, ModelConfig& config);

} // namespace headscope::checkpoint
