#pragma once

#include "app/draw/kit/sheet.h"

namespace headscope::app {

/// The arithmetic of a number inside a delta layer. Returns the decimals of its result.
int add_delta(Sheet& sheet, const CellAddress& cell);

} // namespace headscope::app
