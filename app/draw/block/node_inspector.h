#pragma once

#include "app/draw/kit/sheet.h"

namespace headscope::app {

/// Returns true for stages that add_node explains: the nodes that they are computed from have no pages.
bool is_explained_by_node(const Shown& shown, TensorId stage);
/// The arithmetic of a number, as the operation of its node describes it, then that of the cells between
/// stages that it is computed from. Returns the decimals of its result.
int add_node(Sheet& sheet, const CellAddress& cell);

} // namespace headscope::app
