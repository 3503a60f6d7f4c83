#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <vector>

namespace headscope::app {

/// The guide's text at one stop of the strip. Every number is from the trace.
struct GuideText {
    std::string heading;
    std::vector<std::string> paragraphs = {};
    std::string try_it = {}; ///< something for the reader to do now
};

/// The text for the stop shown, the query row stepped through (else one near the start) and the head in
/// focus. The text does not change with the pointer, so that it stays readable.
GuideText guide_text(const Shown& shown, const ViewState& view);
/// The same for a stop around attention.
GuideText guide_text_around(const Shown& shown, const ViewState& view);

} // namespace headscope::app
