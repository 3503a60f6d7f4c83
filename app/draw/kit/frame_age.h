#pragma once

#include <cstdint>

namespace headscope::app {

/// The one rule for what is kept from frame to frame: it is let go once that many frames have not asked for
/// it. Five seconds of movement; nothing grows old while no frame is drawn.
class FrameCount {
public:
    static constexpr std::int64_t kept_frames = 300;

    void end_frame() { ++now_; }
    /// The frame that is being drawn: whoever asks notes it as `asked`.
    std::int64_t now() const { return now_; }
    bool forgets(std::int64_t asked) const { return now_ - asked > kept_frames; }

private:
    std::int64_t now_ = 0;
};

} // namespace headscope::app
