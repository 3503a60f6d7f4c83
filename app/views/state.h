#pragma once

#include "app/draw/kit/picture.h"
#include "app/draw/kit/pixel_cache.h"
#include "app/draw/manual/manual_panel.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/flash.h"
#include "app/draw/palette/find.h"
#include "app/draw/palette/palette.h"
#include "app/session/session_state.h"
#include "app/state/course_state.h"
#include "app/state/files/files_state.h"
#include "app/views/presentation/presentation.h"
#include "app/views/text_frame.h"
#include "app/views/widgets.h"

#include <optional>
#include <string>

namespace headscope::app {

/// What the views are asked to do in the next frame, once.
struct Asked {
    bool file_menu = false;                     ///< opens
    bool sentence = false, kv_sentence = false; ///< its field takes the keyboard
    int read_on = 0;                            ///< pages of a presented lesson's text, on or back
};

/// The context menu, once it was asked for.
struct ContextMenu {
    std::optional<Thing> thing; ///< empty: it is closed
    /// Its corner, logical pixels of the window; empty: at the mouse.
    std::optional<figure::Point> at = {};
    bool asked = false;       ///< opens in the next frame
    std::size_t lit = no_row; ///< the row that Return does
    static constexpr std::size_t no_row = ~std::size_t{0};
};

/// Everything the views draw from. Only the program changes it.
struct AppState : SessionState {
    /// As Workspace::view_behind() gives it.
    std::optional<ViewState> view_behind;
    const ViewState& drawn_view() const { return view_behind ? *view_behind : view; }
    Comparison compare; ///< follows `shown`
    Flash flash;
    NumberEdit number;                ///< in the inspector's number field
    FieldEdit field;                  ///< what is typed into a field of a panel
    ThrownTexts thrown;               ///< that Esc took out of fields
    std::string hovered;              ///< label of the hotspot under the mouse in the frame before
    std::vector<HistoryLine> history; ///< of the document, oldest first
    std::size_t history_position = 0;
    FilesState files;
    PixelCache pixels; ///< of what is costly to draw
    CourseState course;
    Palette palette;
    Find find;
    ManualPanel manual;
    ContextMenu menu;
    bool full_screen = false; ///< asked for
    bool settings_open = false;
    Presentation presentation;
    bool typing = false; ///< a text field has the keyboard
    Asked asked;
    /// The engine's badge says how long the last run took; no two pictures without a window would be the
    /// same.
    bool timed = true;
};

} // namespace headscope::app
