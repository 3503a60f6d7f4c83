#pragma once

#include <chrono>

namespace headscope::bench {

using BenchClock = std::chrono::steady_clock;

/// Returns the seconds since `start`.
inline double since(BenchClock::time_point start) {
    return std::chrono::duration<double>(BenchClock::now() - start).count();
}

} // namespace headscope::bench
