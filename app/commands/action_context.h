#pragma once

#include "app/state/document.h"
#include "app/state/files/files_state.h"
#include "app/state/view_state.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace headscope::app {

struct LongMap;
struct PromptListState;

/// The element that covers the canvas. Each value disables more keys than the previous one.
enum class Overlay : std::uint8_t {
    nothing,
    list,   ///< the list of keys, or an open menu
    field,  ///< a text field has the keyboard focus
    dialog, ///< a running job, a question, the file chooser
};

/// The read-only program state that decides which actions are available. Must not outlive the state it was
/// made from.
struct ActionContext {
    const ViewState& view;
    const FilesState& files;
    const Problem& problem; ///< the newest document's
    bool checkpoint = false;
    bool two_texts = false;     ///< it is an encoder-decoder
    bool weights_file = false;  ///< the document shows attention weights of a file
    bool other_weights = false; ///< that file has other texts or attentions that can be shown
    bool weights_alone = false; ///< only weights are available: of a file, or a mean of a checkpoint's heads
    bool weights_read = false;  ///< a checkpoint's weights are filtered, merged or averaged
    bool edited = false;        ///< the document has edits
    bool typed_words = false;   ///< the words of its text can be replaced one by one
    std::int64_t flow_word = 0; ///< the word in focus on the Flow, in a checkpoint the current token
    bool lesson = false;        ///< a lesson is open
    bool writes = false;        ///< the document is a checkpoint that predicts the next token
    bool writing = false;       ///< generation is active
    Screen screen = Screen::stages;           ///< the screen on the canvas
    std::string why_no_flow = {};             ///< why the document has no Flow; empty: it has one
    const LongMap* map = nullptr;             ///< the long map on screen; null: none
    bool long_document = false;               ///< only the map of a head can be shown
    bool measuring = false;                   ///< runs for the current map are active
    const PromptListState* prompts = nullptr; ///< the list of prompts of the checkpoint; null: none
    const Dims* shown = nullptr;              ///< sizes of the shown trace; null: nothing is computed yet
    bool shows_numbers = false;               ///< the canvas shows numbers, for a long text without a trace
    std::int64_t own_heads = 0;               ///< heads of the shown layer, without the mean
    Compare compare = Compare::now;           ///< the version on screen
    /// The cell that outlines and inspector refer to; may be empty.
    std::function<std::optional<CellAddress>()> focused_cell = {};
    bool left_open = true, inspector_open = true;
    std::int64_t token = -1;                        ///< subject of the context menu; -1: none
    bool token_of_second = false;                   ///< it is in the second text, which has no queries
    bool presenting = false;                        ///< the canvas is shown alone, without panels
    bool darkened = false;                          ///< and hidden
    bool finding = false;                           ///< the search field is open
    bool manual_open = false;                       ///< the manual replaces the left panel
    bool manual_typing = false;                     ///< and its field has the keyboard focus
    bool manual_back = false, manual_forth = false; ///< its history has places to go back or forward to
    bool has_tab_focus = false;                     ///< a control has Tab focus
    bool stepping = false;                          ///< and arrow keys move it
    bool typing_number = false; ///< the field of the selected number is about to take the keyboard
    Overlay over = Overlay::nothing;

    /// Returns true if an editable number is selected; arrows, Tab and digits then apply to it.
    bool number_selected() const;
};

} // namespace headscope::app
