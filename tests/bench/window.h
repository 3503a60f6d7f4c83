#pragma once

#include "tests/bench/rows.h"

#include <vector>

namespace headscope::bench {

/// Opens the window in this process, leaves it idle, types into it, and prints its measurements as JSON.
void measure_window();

/// Times the real window, each time in its own process, or reports that there is no display.
void add_window_rows(std::vector<BenchRow>& rows);

} // namespace headscope::bench
