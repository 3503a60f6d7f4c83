#include "app/draw/kit/format.h"
#include "app/shell/program.h"
#include "tests/bench/clock.h"
#include "tests/bench/frames.h"
#include "tests/bench/rows.h"

#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::bench {

namespace {

constexpr int frames = 240;

/// Zooms in to single weights, pans and zooms out again, like a user with wheel and mouse.
app::LongMapChange movement(int frame) {
    const int n = frame % 80;
    if (n < 16)
        return app::ZoomLongMap{1, 0.4F, 0.7F};
    if (n < 40)
        return app::PanLongMap{0.02F, -0.015F};
    if (n < 56)
        return app::ZoomLongMap{-1};
    return app::PanLongMap{-0.01F, 0.01F};
}

BenchRow moving_row(app::Program& program, const std::string& when) {
    const auto move = [&](int n) { program.act(movement(n)); };
    const double first = run_frames(program, 1).seconds;
    const TimedFrames moved = run_frames(program, frames, move);
    const double frame = (moved.seconds - first) / (frames - 1);
    return {
        "map of 131,072 tokens, moved and zoomed " + when + ": frames a second", app::number(1 / frame, 0),
        "1600 x 1000, software GL, own work of the median " + app::time_text(spread_of(moved.own).median) +
            ", of the processor " + app::time_text(spread_of(moved.processor).median) + "; wanted: 60",
        nlohmann::json{{"name", "map, frames " + when}, {"frame_seconds", frame}}.dump()};
}

} // namespace

void add_map_frame_rows(std::vector<BenchRow>& rows) {
    constexpr std::int64_t T = 131072;
    project::Recipe recipe;
    recipe.base = std::make_shared<const Problem>(bench_problem(1, T, 64, 1));
    recipe.mask = project::MaskChoice::causal;
    app::Program program({.recipe = recipe, .device = "cpu"});
    run_frames(program, 1); // loads GL, and requests the map
    rows.push_back(moving_row(program, "while it is read"));
    program.settle();
    rows.push_back(moving_row(program, "once it is read"));
}

} // namespace headscope::bench
