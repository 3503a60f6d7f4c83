#pragma once

#include "app/state/engine_state.h"
#include "app/state/head_board.h"
#include "app/state/model_state.h"
#include "app/state/shown.h"

#include <string>

namespace headscope::app {

/// The part of the program's state that belongs to the open document. Sessions keep it up to date, views only
/// read it. Of the thread that draws.
struct SessionState {
    DocumentPtr document; ///< the newest valid one; `shown` may lag behind it by one run
    Shown shown;
    ViewState view;
    std::string sentence;    ///< as it stands in the field, valid or not
    std::string kv_sentence; ///< that of the second field
    std::string notice;      ///< what the last command did beside what can be seen; empty when nothing
    std::string error;       ///< one sentence about what was typed or chosen last; empty when all is well
    EngineState engines;
    std::string recomputed;           ///< which stages the last run computed, one sentence
    bool running = false;             ///< a run is out
    const HeadBoard* board = nullptr; ///< of the document's heads, while it has one
    ModelState model;                 ///< of the document's checkpoint, while it has one
};

} // namespace headscope::app
