#pragma once

#include <algorithm>

namespace headscope::app {

/// When frames were drawn, and since when what belongs in them is awaited. Times in seconds since the program
/// began.
class FrameTimes {
public:
    /// A frame begins. Returns the seconds since the one before, at most 0.1; 0 for the first.
    double begin(double now) {
        const double since = last_ < 0 ? 0 : std::min(now - last_, 0.1);
        last_ = now;
        return since;
    }
    /// `awaits`: what belongs in this frame is being computed.
    void note(bool awaits) {
        if (!awaits)
            shown_ = last_;
        keeps_picture_ = awaits && last_ - shown_ < longest_kept;
    }
    /// Whether the picture on screen stands for the one to come.
    bool keeps_picture() const { return keeps_picture_; }

private:
    static constexpr double longest_kept = 0.5;
    double last_ = -1;
    double shown_ = 0; ///< when there was a trace to show, or no document
    bool keeps_picture_ = false;
};

} // namespace headscope::app
