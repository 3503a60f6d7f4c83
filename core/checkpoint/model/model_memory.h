#pragma once

#include "core/checkpoint/model/model.h"

namespace headscope::checkpoint {

/// Refuses a model whose largest tensor or largest layer, as float32, does not fit into memory: no run of it
/// can succeed. Called before weights are read. Throws MemoryShortage.
void require_room_for(const Model& model);

} // namespace headscope::checkpoint
