#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The arithmetic of the cell that is spoken of, in the order of the computation, for any cell of any stage
/// or input (context.width wide; as high as it needs). Its numbers are those of the trace; sums are taken
/// before rounding.
Picture draw_inspector(const DrawContext& context);

/// The inspector with what can be done to the selected block of numbers: last, when they are the
/// user's own. Large matrices get their numbers around the selection, too.
Picture with_selection_tools(const Picture& inspector, const DrawContext& context);

/// What happens at the stage shown: a short text with numbers of this very trace, and something to try.
Picture draw_guide(const DrawContext& context);

/// Every tensor of the problem and of the trace, with its shape, range and memory; a click goes to its stage.
Picture draw_tensors(const DrawContext& context);

/// What each head measurably does on this sentence; a click puts the head in focus.
Picture draw_heads(const DrawContext& context);

/// Gains, temperature, the history of edits, undo and redo.
Picture draw_edit(const DrawContext& context);

} // namespace headscope::app
