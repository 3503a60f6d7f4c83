#include "tests/bench/frames.h"

#include "app/shell/gl/offscreen.h"
#include "tests/bench/clock.h"

#include <algorithm>
#include <ctime>

namespace headscope::bench {

namespace {

double thread_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

void TimedUi::frame(app::Surface& surface, double now) {
    const auto start = BenchClock::now();
    const double worked = thread_seconds();
    before_(static_cast<int>(own.size()));
    program_.frame(surface, now);
    own.push_back(since(start));
    processor.push_back(thread_seconds() - worked);
}

TimedFrames run_frames(app::Program& program, int count, const std::function<void(int)>& before,
                       std::size_t settling) {
    TimedUi ui(program, before);
    const auto start = BenchClock::now();
    app::render_offscreen(ui, 1600, 1000, 1.0F, {.frames = count});
    TimedFrames out{.seconds = since(start), .own = std::move(ui.own), .processor = std::move(ui.processor)};
    for (std::vector<double>* const times : {&out.own, &out.processor})
        times->erase(times->begin(),
                     times->begin() + static_cast<std::ptrdiff_t>(std::min(settling, times->size() - 1)));
    return out;
}

} // namespace headscope::bench
