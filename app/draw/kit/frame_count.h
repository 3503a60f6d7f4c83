#pragma once

#include <cstdint>

namespace headscope::app {

/// The rule for what is kept from frame to frame: it is let go once kept_frames frames, five seconds of
/// movement, have not asked for it. Nothing ages while no frame is drawn.
class FrameCount {
public:
    static constexpr std::int64_t kept_frames = 300;
    static constexpr float kept_seconds = 5; ///< the same for what counts seconds of movement

    void end_frame() { ++now_; }
    /// The frame that is being drawn.
    std::int64_t now() const { return now_; }
    /// asked: the last frame that asked.
    bool forgets(std::int64_t asked) const { return now_ - asked > kept_frames; }

private:
    std::int64_t now_ = 0;
};

} // namespace headscope::app
