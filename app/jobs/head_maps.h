#pragma once

#include "app/jobs/derived.h"
#include "app/state/head_grid.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace headscope::app {

/// Returns a version that no other row has, see HeadGridRow. Any thread.
std::uint64_t next_row_version();

/// Reads a set of attention weights layer by layer on its own thread, visible layers first, and keeps a small
/// map of each head. All members are for the thread that created the object.
class HeadMaps final : public HeadGrid {
public:
    /// `wake` is called on the worker's thread when a layer has been read; it may be empty.
    HeadMaps(AttentionSetPtr set, std::function<void()> wake);
    /// The same if `before` holds the maps of a set with equal sizes and the same weights in layers before
    /// `changed_from`. Those maps are reused; the others are shown until the new ones have been read.
    HeadMaps(AttentionSetPtr set, std::function<void()> wake, const HeadMaps& before,
             std::int64_t changed_from);

    const AttentionInfo& info() const override { return set_->info(); }
    std::shared_ptr<const HeadGridRow> row(std::int64_t l) const override;
    std::int64_t ready() const override;

    /// Reads the visible layers before the others: `open`, then [first, last].
    void prioritize(std::int64_t open, std::int64_t first, std::int64_t last);
    /// Blocks until every layer has been read. For export and tests; the window never calls it.
    void wait() { values_.wait(); }

private:
    void want(std::int64_t l, Priority urgency);
    DerivedKey key(std::int64_t l) const { return {set_, std::to_string(l)}; }

    AttentionSetPtr set_;
    /// Shown until a layer has been read: rows of another set; null: nothing.
    std::vector<std::shared_ptr<const HeadGridRow>> before_;
    std::vector<bool> taken_over_;              ///< true if the row of `before_` is also valid for this set
    mutable std::vector<std::int64_t> missing_; ///< layers that had not been read at the last call of ready()
    DerivedValues values_;
};

} // namespace headscope::app
