#pragma once

#include "app/draw/kit/sheet.h"

namespace headscope::app {

// What a marked baseline adds to the side panels.

/// In the Edit tab: marking A, and letting go of it.
void add_baseline_buttons(Sheet& sheet);
/// In the history: the dashed line over the state that is A.
void mark_baseline_line(Sheet& sheet, const figure::Rect& area);

/// In the inspector: the cell in A and in B, what it touches, and how much each head changed. Nothing without
/// a baseline that fits.
void add_change_sections(Sheet& sheet, const CellAddress& cell);

/// How much head h changed, as the page shown tells it (Frobenius norm of B − A), and the largest of all
/// heads; nothing without a baseline that fits.
struct HeadChange {
    double norm = 0, largest = 0;
};
std::optional<HeadChange> change_of_head(const DrawContext& context, std::int64_t head);

} // namespace headscope::app
