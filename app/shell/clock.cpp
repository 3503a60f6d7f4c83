#include "app/shell/window.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

namespace headscope::app {
namespace {

using Clock = std::chrono::steady_clock;

// Field 22 of /proc/self/stat is the start of this process in clock ticks since boot. The second field, the
// program's name in parentheses, may contain spaces, so counting starts after the last parenthesis.
double age_now() {
    std::ifstream file("/proc/self/stat");
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    std::size_t at = line.rfind(')');
    for (int field = 2; field < 22 && at != std::string::npos; ++field)
        at = line.find(' ', at + 1);
    timespec boot{};
    if (at == std::string::npos || clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
        return 0;
    const double started =
        std::strtod(line.c_str() + at, nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
    return static_cast<double>(boot.tv_sec) + 1e-9 * static_cast<double>(boot.tv_nsec) - started;
}

} // namespace

double seconds_since_start() {
    static const double age = age_now();
    static const Clock::time_point asked = Clock::now();
    return age + std::chrono::duration<double>(Clock::now() - asked).count();
}

} // namespace headscope::app
