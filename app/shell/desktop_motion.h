#pragma once

#include <filesystem>

namespace headscope::app {

/// Returns true if the desktop settings in the user's config folder ask for no animations: GTK's
/// gtk-enable-animations (gtk-4.0/settings.ini, gtk-3.0/settings.ini) or KDE's AnimationDurationFactor
/// (kdeglobals). False if nothing can be read.
bool desktop_wants_less_motion(const std::filesystem::path& config_folder);

} // namespace headscope::app
