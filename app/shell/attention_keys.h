#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

namespace headscope::app {

/// The keys that mean something else while weights alone are shown (weights_alone): arrows walk over the
/// board, with Shift from weight to weight; + and − zoom; B shows the board. Called like handle_shortcuts.
void attention_keys(const AppState& state, const Sink& send);
/// Those of them that say how weights are read; a checkpoint has them too. S slides heads where there are any
/// to slide.
void reading_keys(const AppState& state, const Sink& send);

/// + and −, which a checkpoint has too while its weights are shown.
void zoom_map_keys(const Sink& send);

} // namespace headscope::app
