#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The width of the small picture of a stage at that height; 0 if the stage has none.
float miniature_width(const DrawContext& context, StageGroup stage, float height);

/// Draws a small picture of a stage's own numbers: magnitudes in the colors of the heads, scores by their
/// distance from the largest one of their row. Of large tensors it shows every n-th number, of many heads the
/// first ones. The shown trace must exist.
void draw_stage_miniature(Picture& picture, const DrawContext& context, StageGroup stage,
                          const figure::Rect& area);

/// Returns true if the last edit changed a number of the stage.
bool has_changed(const DrawContext& context, StageGroup stage);

} // namespace headscope::app
