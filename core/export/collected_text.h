#pragma once

#include "core/base/file.h"

#include <string>

namespace headscope::exporting {

/// Collects text for a sink, and passes it on in pieces. The sink must outlive it.
class CollectedText {
public:
    explicit CollectedText(const ByteSink& sink) : sink_(sink) {}
    std::string at_hand; ///< not passed on yet
    /// Passes the text on if it has at least this many bytes.
    void pass_on(std::size_t least = std::size_t{1} << 18U) {
        if (at_hand.size() < least)
            return;
        sink_(at_hand);
        at_hand.clear();
    }

private:
    const ByteSink& sink_;
};

} // namespace headscope::exporting
