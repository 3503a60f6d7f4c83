#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The arithmetic of the cell spoken_of(), in the order of computation, for any cell of any stage or input.
/// As wide as context.width and as high as needed. Its numbers are those of the trace; sums are computed
/// before rounding.
Picture draw_inspector(const DrawContext& context);

/// The inspector, followed by tools for the selected block if the user owns its numbers. A large matrix also
/// shows the numbers around the selection.
Picture with_selection_tools(const Picture& inspector, const DrawContext& context);

/// An explanation of the stage shown: a short text with numbers of this trace, and something to try.
Picture draw_guide(const DrawContext& context);

/// Every tensor of the problem and the trace, with shape, range and memory; a click goes to its stage.
Picture draw_tensors(const DrawContext& context);

/// Measurements of each head on this sentence; a click puts the head in focus.
Picture draw_heads(const DrawContext& context);

/// Gains, temperature, the history of edits, undo and redo.
Picture draw_edit(const DrawContext& context);

} // namespace headscope::app
