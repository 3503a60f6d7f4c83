#pragma once

#include "core/trace/trace.h"

#include <string>

namespace headscope::app {

/// Describes what a run computed: "Recomputed 2 of 16 stages: contributions of head 3; output."
std::string recomputed_text(const Trace& trace);

} // namespace headscope::app
