#pragma once

#include "app/cli/bench/bench_clock.h"
#include "app/shell/program.h"

#include <string>
#include <vector>

namespace headscope::cli {

/// Types a sentence into its field, one character when the one before is on screen with all that
/// follows from it. Needs frames without a pause between them.
class Typist {
public:
    /// `program` outlives the typist.
    explicit Typist(app::Program& program) : program_(program) {}
    void before_frame(); ///< while the frame is made, before the program draws it
    void after_frame();  ///< once the frame is on screen
    bool done() const;
    /// Seconds from each character to its picture on screen.
    const std::vector<double>& seconds() const { return seconds_; }

private:
    app::Program& program_;
    std::string before_; ///< the sentence before the newest character
    BenchClock::time_point typed_at_;
    bool waiting_ = false; ///< for the picture of a character
    int frame_ = 0;
    std::vector<double> seconds_;
};

} // namespace headscope::cli
