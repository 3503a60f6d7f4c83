#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <vector>

namespace headscope::app {

/// The guide's text for one step of the strip. All its numbers are from the trace.
struct GuideText {
    std::string heading;
    std::vector<std::string> paragraphs = {};
    std::string try_it = {}; ///< something for the reader to do now
};

/// The text for the current step, the query row stepped through (or one near the start) and the focused head.
/// It does not depend on the mouse, so that it stays readable.
GuideText guide_text(const Shown& shown, const ViewState& view);
/// The guide's text for a step around attention.
GuideText guide_text_around(const Shown& shown, const ViewState& view);

} // namespace headscope::app
