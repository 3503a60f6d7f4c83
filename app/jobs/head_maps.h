#pragma once

#include "app/state/head_board.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace headscope::app {

/// Reads a set of attention weights layer by layer on its own thread, those that are looked at first, and
/// keeps a small map of each head. Every member is for the thread that made it.
class HeadMaps final : public HeadBoard {
public:
    /// `wake` is called on the worker's thread when a layer has been read; it may be empty.
    HeadMaps(AttentionSetPtr set, std::function<void()> wake);
    /// The same where `before` were the maps of a set with equal sizes and the same weights in layers before
    /// `changed_from`: those are taken over, the others stand until they have been read.
    HeadMaps(AttentionSetPtr set, std::function<void()> wake, const HeadMaps& before,
             std::int64_t changed_from);
    ~HeadMaps() override;

    const AttentionInfo& info() const override { return set_->info(); }
    std::shared_ptr<const BoardRow> row(std::int64_t l) const override;
    std::int64_t ready() const override;

    /// The layers that are on screen are read before the others: `open`, then [first, last].
    void look_at(std::int64_t open, std::int64_t first, std::int64_t last);
    /// Blocks until every layer has been read. For pictures and tests; the window never calls it.
    void wait() const;

private:
    void work();
    /// The next layer to read, or -1. With the lock held.
    std::int64_t next() const;

    AttentionSetPtr set_;
    std::function<void()> wake_;
    Progress progress_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<std::shared_ptr<const BoardRow>> rows_;
    std::vector<bool> read_; ///< of this set, not taken from another one
    std::int64_t ready_ = 0, open_ = 0, first_ = 0, last_ = 0;
    std::thread thread_;
};

} // namespace headscope::app
