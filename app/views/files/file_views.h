#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

namespace headscope::app {

/// The button "File" and its menu. Returns its width.
float view_file_button(const AppState& state, figure::Point at, const ViewTools& tools);

/// The one open dialog, if any: work in progress, the question about unsaved changes, recoverable work, or
/// the file chooser. `tools.focus` is the dialog's focus ring.
void view_file_dialogs(const AppState& state, const ViewTools& tools);
/// Returns true if a picture of the canvas can show the maps of all heads of the layer instead of the open
/// one: scores and weights of a checkpoint, and of a file whose heads of that layer are all in memory.
bool offers_all_heads(const AppState& state);
/// `all_heads`: see offers_all_heads.
void view_file_chooser(OpenChooser& open, bool all_heads, const ViewTools& tools);
/// Opens a model by its name on the Hub: the name, what would be downloaded, and the progress.
void view_hub_dialog(HubDialog& hub, const ViewTools& tools);
/// Chooses a text, and an attention of an encoder-decoder, from a file of attention weights.
void view_attention_dialog(const AttentionQuestion& question, const ViewTools& tools);
/// The controls below the file name in the chooser's card: file format and options that depend on its
/// purpose.
void view_switches(OpenChooser& open, figure::Point at, const figure::Rect& card, bool all_heads,
                   const ViewTools& tools);
/// The height of all of them; 0 if there are none.
float switches_height(const OpenChooser& open, const figure::Rect& card);

class SwitchRow;
/// The options for exported pictures: next to the file format, and in two rows starting at `at`.
void view_picture_options(OpenChooser& open, SwitchRow& beside, figure::Point at, float step, bool all_heads,
                          const ViewTools& tools);
/// Returns true if the card is too low for the options next to the files. They then replace the files on
/// request.
bool collapses_picture_options(const OpenChooser& open, const figure::Rect& card);
void view_collapsed_picture_options(OpenChooser& open, figure::Point at, bool all_heads,
                                    const ViewTools& tools);
/// A small preview of the picture with its size below it, or its size alone.
void view_picture_preview(OpenChooser& open, const figure::Rect& area, const ViewTools& tools);
void view_picture_words(OpenChooser& open, const figure::Rect& area, const ViewTools& tools);

/// The text of the bottom bar about saving.
struct SaveStatus {
    std::string text, tip;
    bool failed = false;
};
SaveStatus save_status(const FilesState& files);
/// "unsaved changes", "recovery", "file chooser", ...; empty when none is open.
std::string dialog_name(const FilesState& files);

} // namespace headscope::app
