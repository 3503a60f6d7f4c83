#pragma once

#include "app/state/shown.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Whether a document can be looked at so.
bool has_screen(const Document& document, Screen screen);
/// What the canvas holds: the screen that the view asks for where the document has it, else the stages.
Screen screen_of(const Shown& shown, const ViewState& view);
/// The numbers of a screen as a table with headings, for spreadsheets: shortest digits that read back as the
/// same number. Not of the stages. Throws Error(input) while they are not known.
std::vector<std::vector<std::string>> screen_table(const Shown& shown, Screen screen);

} // namespace headscope::app
