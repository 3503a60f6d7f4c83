#pragma once

#include "app/draw/kit/sheet.h"

namespace headscope::app {

// Parts of the side panels that depend on a marked baseline A.

/// Adds the buttons of the Edit tab that mark A and remove A.
void add_baseline_buttons(Sheet& sheet);
/// Adds the section "Changed most" to the Edit tab of a checkpoint that was compared with another one: the
/// tensors and the heads that differ most. Adds nothing for other documents.
void add_most_changed(Sheet& sheet);
/// Draws the dashed line in the history above the state that is A.
void mark_baseline_line(Sheet& sheet, const figure::Rect& area);

/// Adds sections to the inspector: the cell in A and in B, the cells that depend on it, and the change of
/// each head. Adds nothing without a comparable baseline.
void add_change_sections(Sheet& sheet, const CellAddress& cell);

/// The change of a head, as shown on the canvas (Frobenius norm of B − A), and the largest change of all
/// heads; nullopt without a comparable baseline.
struct HeadChange {
    double norm = 0, largest = 0;
};
std::optional<HeadChange> change_of_head(const DrawContext& context, std::int64_t head);

} // namespace headscope::app
