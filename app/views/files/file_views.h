#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

namespace headscope::app {

/// The button "File" and its menu. Width it takes.
float view_file_button(const AppState& state, figure::Point at, const ViewTools& tools);

/// The one dialog that is open, if any: work that is under way, the question about unsaved changes, work that
/// can be recovered, or the file chooser. `tools.focus` is the ring of dialogs.
void view_file_dialogs(const AppState& state, const ViewTools& tools);
void view_file_chooser(OpenChooser& open, const ViewTools& tools);
/// Below the name in the chooser's card: kinds of file, and what else belongs to the purpose; and the height
/// of all, 0 where there is none.
void view_switches(OpenChooser& open, figure::Point at, const figure::Rect& card, const ViewTools& tools);
float switches_height(const OpenChooser& open, const figure::Rect& card);

class SwitchRow;
/// How a picture is written: beside the kind of file, and in two rows from `at` on.
void view_picture_options(OpenChooser& open, SwitchRow& beside, figure::Point at, float step,
                          const ViewTools& tools);
/// In a low card they take the place of the folder, when they are asked for.
bool folds_picture_options(const OpenChooser& open, const figure::Rect& card);
void view_folded_picture_options(OpenChooser& open, figure::Point at, const ViewTools& tools);
/// The picture in small with its size below it, or its size alone.
void view_picture_preview(OpenChooser& open, const figure::Rect& area, const ViewTools& tools);
void view_picture_words(OpenChooser& open, const figure::Rect& area, const ViewTools& tools);

/// How the bottom bar says whether the work is stored, and why not.
struct SaveStatus {
    std::string text, tip;
    bool bad = false;
};
SaveStatus save_status(const FilesState& files);
/// "unsaved changes", "recovery", "file chooser", ...; empty when none is open.
std::string dialog_name(const FilesState& files);

} // namespace headscope::app
