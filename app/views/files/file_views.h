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
/// Below the chooser's name: kinds of file, and what else belongs to the purpose; `height` of all, 0 where
/// there is none.
void view_switches(OpenChooser& open, figure::Point at, const ViewTools& tools);
float switches_height(const OpenChooser& open);
/// What was done last, for a moment, at the top of the canvas.
void view_notice(const AppState& state, const figure::Rect& canvas, const ViewTools& tools);

/// How the bottom bar says whether the work is stored, and why not.
struct SaveStatus {
    std::string text, tip;
    bool bad = false;
};
SaveStatus save_status(const FilesState& files);
/// "unsaved changes", "recovery", "file chooser", ...; empty when none is open.
std::string dialog_name(const FilesState& files);

} // namespace headscope::app
