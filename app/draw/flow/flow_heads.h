#pragma once

#include "app/draw/flow/flow_parts.h"

namespace headscope::app {

/// Draws the ribbons of a head: from X to Q, K and V, from Q and K to the map, from V through the gates to
/// the head output, and from there to the joined heads.
void draw_flow_head_ribbons(const FlowPage& page, std::int64_t h);
/// Draws the matrices, the captions and the gates of a head over its ribbons.
void draw_flow_head(const FlowPage& page, std::int64_t h);

/// The end of key j's part of the output row of word i, stacked by the weights before it.
struct FlowSlice {
    float top = 0, bottom = 0;
};
FlowSlice flow_output_slice(const FlowPage& page, std::int64_t h, std::int64_t i, std::int64_t j);
/// The gate of a key on its value strand.
figure::Rect flow_gate(const FlowHead& head, std::int64_t j);
void draw_flow_gate(const FlowPage& page, const figure::Rect& gate, std::int64_t h, float weight,
                    bool forbidden);
/// The thickness of the strand of a key.
float flow_strand(const FlowHead& head, std::int64_t Tk);
/// Draws the name of a head with its bar and its switch.
void draw_flow_head_name(const FlowPage& page, std::int64_t h);
/// The name of a head: "Head 0".
std::string flow_head_name(std::int64_t h);

/// Draws the maps of all heads as tiles, if there is no room for the heads that are not in focus. A click
/// puts a head in focus.
void draw_flow_tiles(const FlowPage& page);

} // namespace headscope::app
