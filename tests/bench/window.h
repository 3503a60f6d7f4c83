#pragma once

#include "tests/bench/rows.h"

#include <vector>

namespace headscope::bench {

/// Runs in a process of its own: opens the window, leaves it idle, types into it, and prints its measurements
/// as JSON.
void measure_window();

/// Times the real window, each time in a process of its own, or says that there is no display.
void add_window_rows(std::vector<BenchRow>& rows);

} // namespace headscope::bench
