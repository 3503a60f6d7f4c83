#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The Flow: the whole attention of the document from its words to the output, at the time of the story that
/// context.view.flow has. A sentence if the document has no Flow.
Picture draw_flow_page(const DrawContext& context);

} // namespace headscope::app
