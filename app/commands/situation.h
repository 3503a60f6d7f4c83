#pragma once

#include "app/state/document.h"
#include "app/state/files/files_state.h"
#include "app/state/view_state.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace headscope::app {

struct LongMap;

/// What lies over the canvas. Each value takes more keys away than the one before.
enum class Over : std::uint8_t {
    nothing,
    list,   ///< the list of keys, or an open menu
    field,  ///< a text field has the keyboard
    dialog, ///< work under way, a question, the file chooser
};

/// What an action is chosen by: where the program stands, read only. Lives no longer than the state it was
/// made from.
struct Situation {
    const ViewState& view;
    const FilesState& files;
    const Problem& problem; ///< of the newest document
    bool checkpoint = false;
    bool two_texts = false;     ///< it has an encoder and a decoder
    bool weights_file = false;  ///< the document is attention weights of a file
    bool weights_alone = false; ///< nothing but weights can be shown: of a file, or a mean of a checkpoint
    bool weights_read = false;  ///< a checkpoint's weights are filtered, merged or averaged
    bool edited = false;        ///< the document carries edits
    bool lesson = false;        ///< one is open
    bool writes = false;        ///< the document is a checkpoint that predicts the next token
    bool writing = false;       ///< it writes token after token
    Screen screen = Screen::stages; ///< what the canvas holds
    const LongMap* map = nullptr;   ///< the one that is on screen; null: none is
    bool long_document = false;     ///< nothing but the map of a head can be shown of it
    bool measuring = false;         ///< runs fill the map on screen, one by one
    const Dims* shown = nullptr;    ///< sizes of what is on screen; null: nothing is computed yet
    bool pictured = false;          ///< the canvas shows numbers, perhaps without a trace: of a long text
    std::int64_t own_heads = 0;     ///< of a layer on screen, without a mean
    Compare compare = Compare::now; ///< what is on screen
    /// The cell that outlines and inspector speak of; may be empty.
    std::function<std::optional<CellAddress>()> spoken_of = {};
    bool left_open = true, inspector_open = true;
    std::int64_t token = -1;                        ///< that the context menu is about; -1: none
    bool token_of_second = false;                   ///< it stands in the second text, and is no query
    bool presenting = false;                        ///< the canvas is shown alone, without panels
    bool darkened = false;                          ///< and hidden
    bool finding = false;                           ///< the field of what is to be found is open
    bool manual_open = false;                       ///< the manual stands in the left panel's place
    bool manual_typing = false;                     ///< and its field has the keyboard
    bool manual_back = false, manual_forth = false; ///< it has places behind and ahead
    bool walking = false;                           ///< Tab has reached a control
    bool stepping = false;                          ///< and arrow keys move it
    bool typing_number = false; ///< the field of the selected number is about to take the keyboard
    Over over = Over::nothing;

    /// A number that the user may change is selected; arrows, Tab and digits belong to it.
    bool number_selected() const;
};

} // namespace headscope::app
