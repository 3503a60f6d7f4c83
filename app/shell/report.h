#pragma once

#include "app/views/state.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::app {

class GridExtremes;

/// Facts about the window that are not part of AppState.
struct WindowFacts {
    std::uint64_t revision = 0;       ///< counts the shown documents
    float scale = 1;                  ///< pixels per logical pixel
    bool settled = false;             ///< no animation and no computation is active
    bool has_tab_focus = false;       ///< a control has Tab focus
    std::uint64_t question = 0;       ///< number of the open question, see Program::question_number
    GridExtremes* extremes = nullptr; ///< null: the extremes of large matrices are left out
};

/// Returns the content of the screen as JSON: stage, row, sentence, revision, and the position of each matrix
/// of `canvas`. For programs that control the window; described in assets/manual/automation.md.
std::string report(const AppState& state, const Picture& canvas, const WindowFacts& facts);

/// Returns sentences about the last input and about failed computations of the current view; empty if there
/// are none.
std::vector<std::string> visible_errors(const AppState& state);

/// The title of the window.
std::string window_title(const AppState& state);

} // namespace headscope::app
