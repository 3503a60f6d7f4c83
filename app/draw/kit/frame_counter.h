#pragma once

#include <cstdint>

namespace headscope::app {

/// Counts drawn frames for the eviction of cached data: data is evicted after kept_frames frames (five
/// seconds at 60 frames per second) without use. Nothing ages while no frame is drawn.
class FrameCounter {
public:
    static constexpr std::int64_t kept_frames = 300;
    static constexpr float kept_seconds = 5; ///< kept_frames in seconds, for code that counts time

    void end_frame() { ++now_; }
    /// The current frame.
    std::int64_t now() const { return now_; }
    /// Returns true if data last used in frame `asked` is evicted.
    bool is_expired(std::int64_t asked) const { return now_ - asked > kept_frames; }

private:
    std::int64_t now_ = 0;
};

} // namespace headscope::app
