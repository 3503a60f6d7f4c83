#pragma once

#include "app/state/shown.h"

#include <string>

namespace headscope::app {

/// The largest sizes that the Flow draws.
inline constexpr std::int64_t most_flow_words = 64, most_flow_keys = 64;

/// Returns why the Flow of a document cannot be drawn, as one sentence; empty if it can.
std::string why_no_flow(const Document& document);

/// A sentence of the story: `strong` follows `text` and is emphasized.
struct FlowSubtitle {
    std::string text, strong;
};
/// The sentence at a time of the story, for the word and the head in focus. The shown trace must exist.
FlowSubtitle flow_subtitle(const Shown& shown, const ViewState& view, float time);

/// The name of a step on the scrubber.
std::string flow_step_name(FlowStep step, const Shown& shown, const ViewState& view);

/// Updates the parts of view.flow that follow the document and the screen.
void follow_flow(const Shown& shown, ViewState& view);

} // namespace headscope::app
