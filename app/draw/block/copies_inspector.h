#pragma once

#include "app/draw/inspector/inspector_sections.h"

namespace headscope::app {

/// Returns true for stages of layers with several copies of the residual stream that add_copies explains.
bool is_of_copies(TensorId id);
/// Adds the arithmetic of such a number, as far as the block has its parts. Returns the decimals of the cell.
int add_copies(Sheet& sheet, const CellAddress& cell);

} // namespace headscope::app
