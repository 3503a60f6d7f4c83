#pragma once

#include "app/state/screens/flow.h"
#include "app/state/view_state.h"

#include <cstdint>
#include <string>

namespace headscope::app {

// The play of the Flow of a language model. Its steps use the names of FlowStep in this order: the
// embedding, the layers before the open one, the attention of the open layer, its MLP, the layers after it,
// the final norm, the next word.

/// The times for a model of L layers, of which `open` is open: at most longest_flow_story, the open layer
/// about 4 seconds.
FlowStory model_flow_story(std::int64_t L, std::int64_t open);
/// The name of a step on the scrubber: "embed", "L0–1", "L2", "MLP", "L3", "final norm", "next word".
std::string model_flow_step_name(FlowStep step, std::int64_t L, std::int64_t open);
/// The sentence at a time of the play.
FlowSubtitle model_flow_subtitle(const Shown& shown, const ViewState& view, float time);

} // namespace headscope::app
