#pragma once

#include "app/session/session_state.h"
#include "app/shell/program_options.h"
#include "app/state/files/files_state.h"
#include "core/base/progress.h"

#include <string>

namespace headscope::app {

/// What a window films in the background, as it was when the film was asked for.
struct FilmSource {
    ProgramOptions options; ///< of a program that shows the same recipe and has the same lessons
    DocumentPtr document;
    ViewState view;
};

/// Films the stages of the source, or the lesson, into a file that ends in .gif, .mp4 or .html, whole or not
/// at all. For a thread beside the window's. Throws Error(cancelled), Error(machine) where ffmpeg is missing,
/// and Error(input).
void write_film(const FilmSource& source, const FilmChoice& choice, const std::string& path,
                Progress& progress);

/// The endings there are, the usual one first.
const std::vector<std::string>& film_suffixes();

} // namespace headscope::app
