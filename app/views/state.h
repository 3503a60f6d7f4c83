#pragma once

#include "app/draw/kit/picture.h"
#include "app/draw/kit/pixel_cache.h"
#include "app/draw/manual/manual_panel.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/flash.h"
#include "app/draw/motion/transition.h"
#include "app/draw/palette/find.h"
#include "app/draw/palette/palette.h"
#include "app/session/session_state.h"
#include "app/state/course_state.h"
#include "app/state/files/files_state.h"
#include "app/views/presentation/presentation.h"
#include "app/views/text_frame.h"
#include "app/views/widgets.h"

#include <memory>
#include <optional>
#include <string>

namespace headscope::app {

/// One-time requests to the views for the next frame.
struct ViewRequests {
    bool file_menu = false;                     ///< open it
    bool sentence = false, kv_sentence = false; ///< give its field the keyboard
    bool to_task = false;  ///< scroll the lesson to its first open task, with room below for the result
    int pages_to_turn = 0; ///< pages to turn in a presented lesson's text; negative: back
};

/// The context menu.
struct ContextMenu {
    std::optional<MenuSubject> thing; ///< empty: the menu is closed
    /// Top left corner, logical pixels of the window; empty: at the mouse.
    std::optional<figure::Point> at = {};
    bool opens_next_frame = false;    ///< opens in the next frame
    std::size_t highlighted = no_row; ///< the highlighted row, which Return activates
    static constexpr std::size_t no_row = ~std::size_t{0};
};

/// Everything that the views draw from. Only the program changes it.
struct AppState : SessionState {
    /// See Workspace::view_of_shown().
    std::optional<ViewState> view_on_screen;
    const ViewState& drawn_view() const { return view_on_screen ? *view_on_screen : view; }
    Comparison compare; ///< follows `shown`
    Flash flash;
    Earlier earlier;
    /// The canvas before the last change of page, in logical pixels of the window, while the new page
    /// arrives; else null.
    std::shared_ptr<const LeavingPicture> leaving;
    NumberEdit number;                ///< text being typed into the inspector's number field
    FieldEdit field;                  ///< text being typed into a field of a panel
    RemovedTexts removed_texts;       ///< texts that Esc removed from fields
    std::string hovered;              ///< label of the hotspot under the mouse in the previous frame
    std::vector<HistoryLine> history; ///< history of the document, oldest first
    std::size_t history_position = 0;
    FilesState files;
    PixelCache pixels; ///< cached pixels of pictures that are expensive to draw
    CourseState course;
    Palette palette;
    Find find;
    ManualPanel manual;
    ContextMenu menu;
    bool full_screen = false; ///< requested
    bool settings_open = false;
    Presentation presentation;
    bool typing = false; ///< a text field has the keyboard
    ViewRequests requests;
    /// The engine badge shows how long the last run took. Off for pictures without a window, so that they are
    /// reproducible.
    bool shows_run_time = true;
};

} // namespace headscope::app
