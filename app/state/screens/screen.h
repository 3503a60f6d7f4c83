#pragma once

#include "app/state/shown.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// A screen by the name that lessons and the command line have for it.
struct NamedScreen {
    std::string_view name;
    Screen screen;
    EffectKind effects = EffectKind::direct; ///< of Screen::effects
};
std::span<const NamedScreen> named_screens();
/// Null when there is no such name.
const NamedScreen* find_screen(std::string_view name);
/// The name of what a view asks for.
std::string_view screen_name(const AttentionView& view);

/// Whether a document can be looked at so.
bool has_screen(const Document& document, Screen screen);
/// What the canvas holds: the screen that the view asks for where the document has it, else the stages.
Screen screen_of(const Shown& shown, const ViewState& view);
/// The numbers of the screen that a view is on as a table with headings, for spreadsheets: shortest digits
/// that read back as the same number. Of a long map: of its pixels that are seen. Not of the stages. Throws
/// Error(input) while they are not known.
std::vector<std::vector<std::string>> screen_table(const Shown& shown, const ViewState& view);
/// The list of the strongest weights far from the diagonal of the map on screen. Throws likewise.
std::vector<std::vector<std::string>> far_weights_table(const Shown& shown, const ViewState& view);

} // namespace headscope::app
