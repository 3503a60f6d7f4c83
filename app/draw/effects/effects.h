#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// Logit attribution: the effect of each residual stream component of a checkpoint on a prediction
// (context.shown.effects).

/// The canvas: a table of heads and MLPs, the source tokens of the open head, and the logit lens. Shows a
/// message while nothing has been measured.
Picture draw_effects_page(const DrawContext& context);
/// The strip above the canvas: direct effect, or effect of ablation.
Picture draw_effects_strip(const DrawContext& context);
/// The inspector: the source tokens of the open head's contribution, and the largest contributions of all
/// components.
Picture draw_effects_inspector(const DrawContext& context);

/// Adds the contribution of the open head at every position, split by source token: a heading, the map and
/// its legend.
void draw_sources_map(Picture& picture, const DrawContext& context);
/// Adds the contribution of the open head to the prediction, split by source token, with its top at y. For a
/// long text shows a section of the tokens and links to the others. `of_map`: the limit of the colors of the
/// map above. Returns its lower edge.
float draw_source_contributions(Picture& picture, const DrawContext& context, double of_map, float y);
/// Adds the fields for the two compared tokens, at the top right.
void draw_question_fields(Picture& picture, const DrawContext& context);
/// Adds the logit lens with its top at y. Returns its lower edge.
float draw_lens(Picture& picture, const DrawContext& context, float y);

/// "·Mary − ·John", or "·Mary − mean".
std::string logit_label(const Effects& effects);
/// The end of a color scale for numbers up to `largest`: rounded up to a tenth.
double effects_limit(double largest);
/// Returns true if the table shows ablation losses instead of direct effects.
bool shows_losses(const DrawContext& context);
/// Returns true if ablation replaces a head's output by its mean instead of zero.
bool shows_mean_ablation(const DrawContext& context);
/// "L9 H9"; for cross-attention "cross L9 H9"; "L9 MLP", "embedding".
std::string component_name(const analysis::Writer& component);

} // namespace headscope::app
