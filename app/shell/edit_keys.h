#pragma once

#include "app/views/state.h"

namespace headscope::app {

/// The keyboard of the selected number, when the user owns it: arrows, Shift and arrows, Tab, digits, Enter,
/// Delete. Called once a frame, outside text fields. True when it used the arrows, so that they do not step
/// through stages as well.
bool handle_edit_keys(AppState& state, const Sink& send);

/// Ctrl with V and A. Called once a frame, outside text fields.
void handle_clipboard_keys(const AppState& state, const Sink& send);

/// The wheel over the selected number changes it. True when it did.
bool handle_wheel(const AppState& state, const Sink& send);

/// Puts the selected block on the clipboard and says so in the notice.
void copy_numbers(AppState& state);

/// The clipboard as a command for the selected cell. Throws Error(input) when nothing that the user owns is
/// selected or the clipboard holds no table of numbers.
Command paste_command(const AppState& state);

/// The command that an operation on the selected block is. Throws Error(input) when nothing is selected.
Command operation_command(const AppState& state, const OperationChoice& choice);

/// Whether the mask allows a cell of scores to weights; a cell that the document no longer has counts as
/// allowed.
bool mask_allows(const Document& document, const CellAddress& cell);

/// How much one pixel of dragging changes a number of that tensor.
float grain_of(const AppState& state, TensorId tensor, bool fine);

/// Turns key presses of this frame into actions. Called once a frame, outside text fields.
void handle_shortcuts(AppState& state, FocusRing& focus, const Sink& send);

} // namespace headscope::app
