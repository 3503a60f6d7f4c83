#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The arithmetic of the current cell (see current_cell()) in the order of computation, for any cell of any
/// stage or input. As wide as context.width and as high as its content. Its numbers are those of the trace;
/// sums are computed before rounding.
Picture draw_inspector(const DrawContext& context);

/// The inspector, followed by tools for the selected block if its numbers can be edited. For a large matrix
/// also the numbers around the selection.
Picture with_selection_tools(const Picture& inspector, const DrawContext& context);

/// The explanation of the current stage: a short text with numbers of this trace, and something to try.
Picture draw_guide(const DrawContext& context);

/// All tensors of the inputs and the trace with shape, range and memory; a click opens the tensor's stage.
Picture draw_tensors(const DrawContext& context);

/// Metrics of each head on this sentence; a click focuses the head.
Picture draw_heads(const DrawContext& context);

/// Head gains, temperature, the history of edits, undo and redo.
Picture draw_edit(const DrawContext& context);

} // namespace headscope::app
