#pragma once

#include "app/draw/kit/picture.h"
#include "app/draw/kit/pixel_cache.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/flash.h"
#include "app/state/course_state.h"
#include "app/state/document.h"
#include "app/state/engine_state.h"
#include "app/state/files_state.h"
#include "app/state/model_state.h"
#include "app/state/view_state.h"
#include "app/views/widgets.h"

#include <optional>
#include <string>

namespace headscope::app {

/// What is typed for the selected number.
struct NumberEdit {
    std::string text;
    bool take_keyboard = false; ///< the field asks for the keyboard
    bool active = false;        ///< it has it
    std::string ahead;          ///< typed before it had
};

/// Everything the views draw from. Only the program changes it.
struct AppState {
    DocumentPtr document; ///< the newest valid one; `shown` may lag behind it by one run
    Shown shown;
    ViewState view;
    /// `view` brought to what `shown` has, while that lags behind a document with other sizes.
    std::optional<ViewState> view_behind;
    const ViewState& drawn_view() const { return view_behind ? *view_behind : view; }
    Comparison compare; ///< follows `shown`
    Flash flash;
    std::string sentence;    ///< as it stands in the field, valid or not
    std::string kv_sentence; ///< that of the second field
    std::string notice;      ///< what the last command did beside what can be seen; empty when nothing
    std::string error;       ///< one sentence about what was typed or chosen last; empty when all is well
    EngineState engines;
    std::string recomputed;           ///< which stages the last run computed, one sentence
    bool running = false;             ///< a run is out
    NumberEdit number;                ///< in the inspector's number field
    FieldEdit field;                  ///< what is typed into a field of a panel
    std::vector<HistoryLine> history; ///< of the document, oldest first
    std::size_t history_position = 0;
    FilesState files;
    const HeadBoard* board = nullptr; ///< of the document's attention or model, while it has one
    ModelState model;                 ///< of the document's checkpoint, while it has one
    PixelCache pixels;                ///< of what is costly to draw
    CourseState course;
    bool focus_sentence = false; ///< the sentence field takes the keyboard in the next frame
    bool focus_kv_sentence = false;
};

} // namespace headscope::app
