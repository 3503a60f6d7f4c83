#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// One attention score of a checkpoint, split by residual stream components: context.shown.why.

/// The canvas: a table of components at the query by components at the key, and below it the contribution of
/// each rotation pair.
Picture draw_score_terms(const DrawContext& context);
/// The inspector: the largest terms as signed bars, and their sum.
Picture draw_score_terms_inspector(const DrawContext& context);

} // namespace headscope::app
