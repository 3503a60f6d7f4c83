#pragma once

#include <algorithm>

namespace headscope::app {

/// The times of frames, and the start of a wait for their content. In seconds since program start.
class FrameTimes {
public:
    /// Begins a frame. Returns the seconds since the previous one, at most 0.1; 0 for the first.
    double begin(double now) {
        const double since = last_ < 0 ? 0 : std::min(now - last_, 0.1);
        last_ = now;
        return since;
    }
    /// `awaits`: the content of this frame is being computed.
    void note(bool awaits) {
        if (!awaits)
            shown_ = last_;
        keeps_previous_frame_ = awaits && last_ - shown_ < longest_kept;
    }
    /// Returns true if the previous picture stays on screen until the next one is ready.
    bool keeps_previous_frame() const { return keeps_previous_frame_; }

private:
    static constexpr double longest_kept = 0.5;
    double last_ = -1;
    double shown_ = 0; ///< last time with a trace to show, or without a document
    bool keeps_previous_frame_ = false;
};

} // namespace headscope::app
