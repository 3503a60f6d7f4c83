#pragma once

#include "app/session/session_state.h"
#include "app/shell/program_options.h"
#include "app/state/files/files_state.h"
#include "core/base/progress.h"

#include <string>

namespace headscope::app {

/// The state of the window at the request of a film, which is rendered in the background.
struct FilmSource {
    ProgramOptions options; ///< for a program with the same recipe and the same lessons
    DocumentPtr document;
    ViewState view;
};

/// Films the stages of the source, or the lesson, and writes a .gif, .mp4 or .html file atomically. For a
/// thread other than the window's. Throws Error(cancelled), Error(machine) if ffmpeg is missing, and
/// Error(input).
void write_film(const FilmSource& source, const FilmChoice& choice, const std::string& path,
                Progress& progress);

/// Supported extensions, the default first.
const std::vector<std::string>& film_suffixes();

} // namespace headscope::app
