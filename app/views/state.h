#pragma once

#include "app/draw/picture.h"
#include "app/state/document.h"
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
    bool running = false;        ///< a run is out
    bool focus_sentence = false; ///< the sentence field takes the keyboard in the next frame
};

} // namespace headscope
