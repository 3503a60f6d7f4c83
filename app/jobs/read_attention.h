#pragma once

#include "core/analysis/read_set.h"

#include <memory>

namespace headscope::app {

/// Keeps the set of attention weights that was opened, and the same as the user wants it read. For one
/// thread; what it hands out is for any.
class ReadAttention {
public:
    ReadAttention() = default;
    ReadAttention(const ReadAttention&) = delete;
    ReadAttention& operator=(const ReadAttention&) = delete;
    /// Means that a job still works out end, so that nothing waits for them.
    ~ReadAttention() { end_means(); }

    /// What is to be shown where `set` is now: an opened set, or what this function gave for it before; null
    /// gives null. A set that it does not know is a newly opened one. Throws Error(input) where it cannot be
    /// read like that; then all is as it was.
    AttentionSetPtr follow(const AttentionSetPtr& set, const analysis::ReadingOptions& wanted);

    /// How the last set that was handed out is read, and what of all that would do anything to it.
    const analysis::ReadingOptions& options() const { return options_; }
    const analysis::ReadingOptions& possible() const { return possible_; }

private:
    void end_means() const;

    AttentionSetPtr held_, shown_;
    analysis::ReadingOptions options_, possible_;
    std::shared_ptr<Progress> stop_; ///< of shown_
};

} // namespace headscope::app
