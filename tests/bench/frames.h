#pragma once

#include "app/shell/program.h"
#include "app/shell/ui.h"

#include <atomic>
#include <functional>
#include <vector>

namespace headscope::bench {

/// A program that measures its own time in each frame, without GL.
class TimedUi final : public app::Ui {
public:
    /// `before` gets the number of each frame, before the program draws it; its time is included.
    explicit TimedUi(
        app::Program& program, std::function<void(int)> before = [](int) {})
        : program_(program), before_(std::move(before)) {}
    void frame(app::Surface& surface, double now) override;
    bool wait_for_results(std::chrono::milliseconds at_most) override {
        return program_.wait_for_results(at_most);
    }
    bool animating() const override { return program_.animating(); }
    float zoom() const override { return program_.zoom(); }
    figure::Color background() const override { return program_.background(); }
    std::string title() const override { return program_.title(); }
    bool keeps_previous_frame() const override { return program_.keeps_previous_frame(); }
    bool quitting() const override { return quit || program_.quitting(); }

    std::vector<double> own;       ///< elapsed seconds of each frame
    std::vector<double> processor; ///< processor seconds of this thread only, without the engine's threads
    std::atomic<bool> quit{false};

private:
    app::Program& program_;
    std::function<void(int)> before_;
};

struct TimedFrames {
    double seconds = 0;                 ///< seconds of all frames together, and of the start of software GL
    std::vector<double> own, processor; ///< see TimedUi; without the first frames, which bake fonts
};
/// Draws frames of 1600 x 1000 pixels without a display. settling: the number of first frames to leave out,
/// less than the number of all frames.
TimedFrames run_frames(
    app::Program& program, int count, const std::function<void(int)>& before = [](int) {},
    std::size_t settling = 3);

} // namespace headscope::bench
