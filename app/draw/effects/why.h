#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// One score of a checkpoint taken apart: context.shown.why.

/// The canvas: a table of writers at the query by writers at the key, and below what each rotation pair adds.
Picture draw_why_page(const DrawContext& context);
/// The inspector beside it: the largest terms as signed bars, and their sum.
Picture draw_why_inspector(const DrawContext& context);

} // namespace headscope::app
