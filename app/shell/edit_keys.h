#pragma once

#include "app/views/state.h"

namespace headscope::app {

/// The wheel changes the number it is turned over; on a page that scrolls, only the selected one. True when
/// it did.
bool handle_wheel(AppState& state, bool page_scrolls, const Sink& send);

/// Puts the selected block on the clipboard and says so in the notice.
void copy_numbers(AppState& state);

/// Puts the selected number, its row, the name of the head in focus, or the token of the context menu on the
/// clipboard and says so. Throws Error(input) where the number is not known.
void copy_one(AppState& state, CopyOne::What what);

/// The clipboard as a command for the selected cell. Throws Error(input) when nothing that the user owns is
/// selected or the clipboard holds no table of numbers.
Command paste_command(const AppState& state);

/// The command that an operation on the selected block is. Throws Error(input) when nothing is selected.
Command operation_command(const AppState& state, const OperationChoice& choice);

/// Whether the mask allows a cell of scores to weights; a cell that the document no longer has counts as
/// allowed.
bool mask_allows(const Document& document, const CellAddress& cell);

/// How much one pixel of dragging changes a number of that tensor.
float grain_of(AppState& state, TensorId tensor, bool fine);

} // namespace headscope::app
