#pragma once

#include "app/shell/program.h"
#include "tests/bench/clock.h"

#include <atomic>
#include <vector>

namespace headscope::bench {

/// Types a sentence into its field like a fast typist, and records when each character and all its results
/// are on screen.
class Typist {
public:
    /// `program` must outlive this object.
    explicit Typist(app::Program& program) : program_(program) {}
    /// Presses one key after the other and wakes the window for each, until `stop` is set. Called on another
    /// thread.
    void press_keys(const std::atomic<bool>& stop);

    // Called on the window's thread.
    char32_t before_frame(); ///< the character of a key that was pressed since the previous frame; 0: none
    void after_frame();      ///< a frame is on screen
    bool done() const;
    /// Returns the seconds from each key to the picture of its character.
    const std::vector<double>& seconds() const { return seconds_; }

private:
    app::Program& program_;
    std::atomic<int> pressed_ = 0; ///< keys, including those before the first character
    BenchClock::time_point start_; ///< time of the first key; set once it is pressed
    int taken_ = 0;
    std::vector<double> seconds_;
};

} // namespace headscope::bench
