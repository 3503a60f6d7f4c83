#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

namespace headscope::app {

/// The bottom bar of the Flow: the word, the story's steps on a scrubber, its speed and the switch that waits
/// for reading.
void view_flow_bar(const AppState& state, const figure::Rect& area, const ViewTools& tools);

// Parts of the bottom bars.

enum class TransportIcon { first, back, play, pause, next, last };
void draw_transport_icon(figure::Scene& scene, TransportIcon icon, figure::Point center, figure::Color color);
figure::PolygonItem filled_disc(figure::Point center, float radius, figure::Color color);

} // namespace headscope::app
