#pragma once

#include "app/draw/kit/sheet.h"

namespace headscope::app {

/// The keys and values that the open layer keeps for the head in focus, a row for each token, and what all
/// layers keep together. context.shown is a layer of a causal checkpoint.
void write_cache(Sheet& sheet);

} // namespace headscope::app
