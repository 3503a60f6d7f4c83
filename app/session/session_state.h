#pragma once

#include "app/state/engine_state.h"
#include "app/state/head_grid.h"
#include "app/state/model_state.h"
#include "app/state/shown.h"

#include <string>

namespace headscope::app {

/// The part of the program's state that belongs to the open document. Sessions update it; views only read it.
/// Owned by the thread that draws.
struct SessionState {
    DocumentPtr document; ///< the newest valid one; `shown` may be one run behind
    Shown shown;
    ViewState view;
    std::string sentence;    ///< content of the field, valid or not
    std::string kv_sentence; ///< content of the second field
    std::string notice;      ///< side effects of the last command; empty if none
    std::string error;       ///< one sentence about the last input; empty if there is no error
    EngineState engines;
    std::string recomputed;              ///< the stages that the last run computed, one sentence
    bool running = false;                ///< a run is in progress
    const HeadGrid* head_grid = nullptr; ///< the grid of the document's heads, if it has one
    ModelState model;                    ///< the document's checkpoint, if it has one
};

} // namespace headscope::app
