#pragma once

#include "app/draw/picture.h"
#include "app/draw/pixel_cache.h"
#include "app/state/document.h"
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
    std::string device_name, device_detail;
    bool running = false;                 ///< a run is out
    std::string edit_text;                ///< in the inspector's number field
    std::optional<CellAddress> edit_cell; ///< whose number that is
    std::vector<HistoryLine> history;     ///< of the document, oldest first
    std::size_t history_position = 0;
    FilesState files;
    const HeadBoard* board = nullptr; ///< of the document's attention, while it has one
    PixelCache pixels;                ///< of what is costly to draw
    bool focus_sentence = false;      ///< the sentence field takes the keyboard in the next frame
};

} // namespace headscope
