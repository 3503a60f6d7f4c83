#pragma once

#include "app/draw/kit/sheet.h"

namespace headscope::app {

// What the side panels show when a baseline is marked.

/// In the Edit tab: buttons that mark A and drop A.
void add_baseline_buttons(Sheet& sheet);
/// In the history: the dashed line above the state that is A.
void mark_baseline_line(Sheet& sheet, const figure::Rect& area);

/// In the inspector: the cell in A and in B, the cells it changes, and how much each head changed. Adds
/// nothing without a baseline that fits.
void add_change_sections(Sheet& sheet, const CellAddress& cell);

/// The change of head h, as the page shows it (Frobenius norm of B − A), and the largest change of all heads;
/// nullopt without a baseline that fits.
struct HeadChange {
    double norm = 0, largest = 0;
};
std::optional<HeadChange> change_of_head(const DrawContext& context, std::int64_t head);

} // namespace headscope::app
