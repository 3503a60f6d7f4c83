#pragma once

#include "app/shell/program.h"
#include "tests/bench/clock.h"

#include <atomic>
#include <vector>

namespace headscope::bench {

/// Types a sentence into its field as a fast person does, and notes when each character is on screen with all
/// that follows from it.
class Typist {
public:
    /// `program` outlives the typist.
    explicit Typist(app::Program& program) : program_(program) {}
    /// Presses one key after the other and wakes the window for each, until `stop`. For a thread of its own.
    void press_keys(const std::atomic<bool>& stop);

    // For the window's thread.
    char32_t before_frame(); ///< the character of a key that was pressed since the frame before; 0: none
    void after_frame();      ///< a frame is on screen
    bool done() const;
    /// Seconds from each key to the picture of its character.
    const std::vector<double>& seconds() const { return seconds_; }

private:
    app::Program& program_;
    std::atomic<int> pressed_ = 0; ///< keys, those before the first character among them
    BenchClock::time_point start_; ///< of the keys; known once one is pressed
    int taken_ = 0;
    std::vector<double> seconds_;
};

} // namespace headscope::bench
