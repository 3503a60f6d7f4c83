#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// What each writer of a checkpoint does to a prediction: context.shown.effects.

/// The canvas: a table of heads and MLPs, the tokens that the open head reads from, and the logit lens. Says
/// so where nothing is known yet.
Picture draw_effects_page(const DrawContext& context);
/// The strip above it: direct, or when ablated.
Picture draw_effects_strip(const DrawContext& context);
/// The inspector beside it: where the open head's part comes from, and the largest parts of all.
Picture draw_effects_inspector(const DrawContext& context);

/// Adds what the open head brings to every position, by source token: a heading, the map and its legend.
void draw_sources_map(Picture& picture, const DrawContext& context);
/// Adds what the open head brings to the prediction, by the token that it reads from, with its top at y: of a
/// long text a part, and what goes to the others. `of_map`: the limit of the colours above. Returns its lower
/// edge.
float draw_brought(Picture& picture, const DrawContext& context, double of_map, float y);
/// Adds the fields that say which two tokens are compared, at the top right.
void draw_question_fields(Picture& picture, const DrawContext& context);
/// Adds the logit lens with its top at y. Returns its lower edge.
float draw_lens(Picture& picture, const DrawContext& context, float y);

/// "·Mary − ·John", or "·Mary − mean".
std::string logit_words(const Effects& effects);
/// What a colour scale of numbers up to `largest` ends at: rounded up to a tenth.
double effects_limit(double largest);
/// Whether the table shows what is lost without each head, not what each one writes.
bool shows_losses(const DrawContext& context);
/// Whether that head gives its mean output instead of nothing.
bool shows_means(const DrawContext& context);
/// "L9 H9"; of a cross-attention "cross L9 H9"; "L9 MLP", "embedding".
std::string writer_words(const analysis::Writer& writer);

} // namespace headscope::app
