#pragma once

#include "app/draw/picture.h"
#include "app/state/document.h"
#include "app/state/engine_state.h"
#include "app/state/files_state.h"
#include "app/state/view_state.h"

#include <string>

namespace headscope {

/// Everything the views draw from. Only the program changes it.
struct AppState {
    DocumentPtr document; ///< the newest valid one; `shown` may lag behind it by one run
    Shown shown;
    ViewState view;
    std::string sentence; ///< as it stands in the field, valid or not
    std::string error;    ///< one sentence about what was typed or chosen last; empty when all is well
    EngineState engines;
    bool running = false;                 ///< a run is out
    std::string edit_text;                ///< in the inspector's number field
    std::optional<CellAddress> edit_cell; ///< whose number that is
    std::vector<HistoryLine> history;     ///< of the document, oldest first
    std::size_t history_position = 0;
    FilesState files;
    bool focus_sentence = false; ///< the sentence field takes the keyboard in the next frame
};

} // namespace headscope
