#pragma once

#include "app/views/state.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::app {

/// Facts about the window that the state does not hold.
struct WindowFacts {
    std::uint64_t revision = 0; ///< how often another document was shown
    float scale = 1;            ///< pixels per logical pixel
    bool settled = false;       ///< nothing moves or is computed
    bool walking = false;       ///< Tab has reached a control
};

/// What is on screen as JSON: stage, row, sentence, revision, and the place of each matrix of `canvas`. For
/// programs that drive the window from outside; described in assets/manual/automation.md.
std::string report(const AppState& state, const Picture& canvas, const WindowFacts& facts);

/// Sentences about the last input, and about what cannot be computed for the page on screen; empty when all
/// is well.
std::vector<std::string> faults_on_screen(const AppState& state);

/// The title of the window.
std::string window_title(const AppState& state);

} // namespace headscope::app
