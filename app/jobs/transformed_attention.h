#pragma once

#include "core/analysis/read_set.h"

#include <memory>

namespace headscope::app {

/// Keeps the opened set of attention weights and its transformed version. For one thread; the returned sets
/// are for any thread.
class TransformedAttention {
public:
    TransformedAttention() = default;
    TransformedAttention(const TransformedAttention&) = delete;
    TransformedAttention& operator=(const TransformedAttention&) = delete;
    /// Cancels means that a job is still computing, so that nothing waits for them.
    ~TransformedAttention() { end_means(); }

    /// Returns the set to show. `set`: an opened set, or one that this function returned before; null gives
    /// null. An unknown set counts as newly opened. Throws Error(input) if the options cannot be applied; the
    /// state is then unchanged.
    AttentionSetPtr follow(const AttentionSetPtr& set, const analysis::ReadingOptions& wanted);

    /// The options of the last returned set, and those options that would change it.
    const analysis::ReadingOptions& options() const { return options_; }
    const analysis::ReadingOptions& possible() const { return possible_; }

private:
    void end_means() const;

    AttentionSetPtr stored_, shown_;
    analysis::ReadingOptions options_, possible_;
    std::shared_ptr<Progress> stop_; ///< of shown_
};

} // namespace headscope::app
