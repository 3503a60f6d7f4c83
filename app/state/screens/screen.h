#pragma once

#include "app/state/shown.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// A screen with its name in lessons and on the command line.
struct NamedScreen {
    std::string_view name;
    Screen screen;
    EffectKind effects = EffectKind::direct; ///< for Screen::effects
};
std::span<const NamedScreen> named_screens();
/// Null if there is no such name.
const NamedScreen* find_screen(std::string_view name);
/// Returns the name of the screen that a view requests.
std::string_view screen_name(const AttentionView& view);

/// Returns true if a document has that screen.
bool has_screen(const Document& document, Screen screen);
/// Returns the screen on the canvas: the requested one if the document has it, else the stages.
Screen screen_of(const Shown& shown, const ViewState& view);
/// Returns true for screens whose cells are numbers of the stages, which can be selected and edited there.
bool shows_stage_numbers(Screen screen);
/// Returns the numbers of the current screen as a table with headings, for spreadsheets: the shortest digits
/// that read back as the same number. For a long map: the visible pixels. Not for the stages. Throws
/// Error(input) while the numbers are not known.
std::vector<std::vector<std::string>> screen_table(const Shown& shown, const ViewState& view);
/// Returns the list of the strongest weights far from the diagonal of the current map. Throws likewise.
std::vector<std::vector<std::string>> far_weights_table(const Shown& shown, const ViewState& view);

} // namespace headscope::app
