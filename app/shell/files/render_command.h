#pragma once

#include "app/state/picture_choice.h"
#include "app/views/state.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Returns the words of the call of `headscope render`, after "headscope", that draws the picture on screen.
/// `output`: the file to write. Uses the project's file if the document has no unsaved changes. Throws
/// Error(input) if the document can only be described by a project, and there is none.
std::vector<std::string> render_words(const AppState& state, const PictureChoice& choice,
                                      const std::string& output);
/// Returns a command for a POSIX shell: words with other characters than letters, digits and a few signs are
/// quoted.
std::string shell_command(const std::vector<std::string>& words);

} // namespace headscope::app
