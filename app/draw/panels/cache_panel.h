#pragma once

#include "app/draw/kit/sheet.h"

namespace headscope::app {

/// Shows the KV cache of the open layer for the focused head, one row per token, and the size of the cache of
/// all layers. context.shown is a layer of a causal checkpoint.
void write_kv_cache(Sheet& sheet);

} // namespace headscope::app
