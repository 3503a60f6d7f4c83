#pragma once

#include <chrono>

namespace headscope::cli {

using BenchClock = std::chrono::steady_clock;

/// The seconds since `start`.
inline double since(BenchClock::time_point start) {
    return std::chrono::duration<double>(BenchClock::now() - start).count();
}

} // namespace headscope::cli
