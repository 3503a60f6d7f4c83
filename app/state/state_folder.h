#pragma once

#include <filesystem>

namespace headscope::app {

/// $XDG_STATE_HOME/headscope, by default ~/.local/state/headscope. Empty when neither variable is set.
/// Not created here.
std::filesystem::path state_folder();

} // namespace headscope::app
