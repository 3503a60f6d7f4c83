#include "tests/bench/flow.h"

#include "core/base/error.h"
#include "tests/bench/clock.h"
#include "tests/bench/frames.h"

namespace headscope::bench {

std::vector<double> flow_frames(const project::Recipe& recipe) {
    constexpr int settling = 60, frames = 360; // 1/60 s apart: the story lasts at least 8 s
    app::Program program({.recipe = recipe, .device = "auto"});
    program.settle();
    program.act(app::SetMotion{true});
    program.act(app::ShowScreen{app::Screen::flow});
    program.act(app::TogglePlay{});
    std::vector<double> between;
    auto last = BenchClock::now();
    run_frames(program, frames, [&](int n) {
        const auto now = BenchClock::now();
        if (n > settling)
            between.push_back(std::chrono::duration<double>(now - last).count());
        last = now;
    });
    if (!program.state().view.playing)
        throw Error(ErrorKind::internal, "the story ended while it was measured");
    return between;
}

} // namespace headscope::bench
