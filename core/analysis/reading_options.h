#pragma once

namespace headscope::analysis {

/// How attention weights are read otherwise than they are held. What each does, and in which order:
/// with_reading.
struct ReadingOptions {
    bool hide_first_token = false;
    bool hide_special_tokens = false;
    bool merge_words = false;
    bool means = false; ///< averages as further heads and one further layer

    bool hides() const { return hide_first_token || hide_special_tokens; }
    bool operator==(const ReadingOptions&) const = default;
};

} // namespace headscope::analysis
