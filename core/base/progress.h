#pragma once

#include "core/base/error.h"

#include <atomic>

namespace headscope {

/// Progress and cancellation shared by a worker thread and an observing thread. Any thread may use every
/// member.
class Progress {
public:
    Progress() = default;
    /// For work inside other work, which is cancelled with it and does not report.
    struct CancelledWith {
        const Progress& other;
    };
    explicit Progress(CancelledWith with) : with_(&with.other) {}

    /// Asks the worker to stop at its next check.
    void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
    bool cancelled() const noexcept {
        return cancelled_.load(std::memory_order_relaxed) || (with_ != nullptr && with_->cancelled());
    }

    /// Throws Error(cancelled) once cancel() has been called. Workers call it between tiles of work.
    void check() const {
        if (cancelled())
            throw Error(ErrorKind::cancelled, "cancelled");
    }

    /// For work that consists of several runs: later reports count as the part [from, to] of the whole.
    void set_part(float from, float to) noexcept {
        from_.store(from, std::memory_order_relaxed);
        to_.store(to, std::memory_order_relaxed);
    }

    struct Part {
        float from, to;
    };
    Part part() const noexcept {
        return {from_.load(std::memory_order_relaxed), to_.load(std::memory_order_relaxed)};
    }

    /// Reports the fraction of the work, or of its current part, that is done, in [0, 1].
    void report(float fraction) noexcept {
        const float from = from_.load(std::memory_order_relaxed);
        const float to = to_.load(std::memory_order_relaxed);
        fraction_.store(from + (to - from) * fraction, std::memory_order_relaxed);
    }
    float fraction() const noexcept { return fraction_.load(std::memory_order_relaxed); }

private:
    const Progress* with_ = nullptr;
    std::atomic<bool> cancelled_{false};
    std::atomic<float> fraction_{0.0F}, from_{0.0F}, to_{1.0F};
};

} // namespace headscope
