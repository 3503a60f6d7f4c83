#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <vector>

namespace headscope::app {

/// What the guide says at one stop of the strip. Every number in it is taken from the trace.
struct GuideText {
    std::string heading;
    std::vector<std::string> paragraphs;
    std::string try_it; ///< something the reader can do now
};

/// The text for the stop shown, the query row that is stepped through (else one near the start) and the head
/// in focus. It does not follow the pointer, so that it can be read.
GuideText guide_text(const Shown& shown, const ViewState& view);

} // namespace headscope::app
