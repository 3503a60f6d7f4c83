#pragma once

#include "app/views/state.h"

namespace headscope::app {

/// Changes the number under the mouse wheel; in a view that scrolls, only the selected one. Returns true if
/// it did.
bool handle_wheel(AppState& state, bool page_scrolls, const Sink& send);

/// Copies the selected block to the clipboard and reports it in the notice.
void copy_numbers(AppState& state);

/// Copies the selected number, its row, the name of the focused head, or the token of the context menu to the
/// clipboard and reports it. Throws Error(input) if the number is not known.
void copy_one(AppState& state, CopyOne::What what);

/// Returns the clipboard as a command for the selected cell. Throws Error(input) if no editable number is
/// selected or the clipboard does not contain a table of numbers.
Command paste_command(const AppState& state);

/// Returns the command for an operation on the selected block. Throws Error(input) if nothing is selected.
Command operation_command(const AppState& state, const OperationChoice& choice);

/// Returns true if the mask allows a cell of a stage from scores to weights, and for a cell that the document
/// no longer has.
bool mask_allows(const Document& document, const CellAddress& cell);

/// Returns the change of a number of that tensor per pixel of dragging.
float drag_step(AppState& state, TensorId tensor, bool fine);

} // namespace headscope::app
