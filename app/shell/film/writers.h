#pragma once

#include "app/shell/film/recorder.h"

#include <memory>
#include <string>

namespace headscope::app {

enum class FilmFormat { gif, mp4, html };
/// Returns the format for the path's extension. Throws Error(input) for another extension, with the three
/// supported ones.
FilmFormat film_format(const std::string& path);

/// Creates a GIF or MP4 with the program ffmpeg, which receives the frames one by one. Throws Error(machine)
/// if ffmpeg is not in PATH, Error(input) if it cannot encode such pictures: MP4 needs even numbers of
/// pixels.
std::unique_ptr<FilmWriter> video_writer(FilmFormat format, const FilmLook& look);

/// The metadata of an HTML page with a film.
struct FilmPage {
    std::string title, language = "en"; ///< language of the texts
    bool dark = false;
};

/// Creates one self-contained HTML page: the still pictures, each with its title and text, one below the
/// other, or one at a time if scripts run.
std::unique_ptr<FilmWriter> page_writer(const FilmPage& page, const FilmLook& look);

/// Returns the writer for a format. Throws what video_writer throws.
std::unique_ptr<FilmWriter> film_writer(FilmFormat format, const FilmPage& page, const FilmLook& look);
/// Returns the title of a film; `lesson`: the id of the filmed lesson, empty: none.
std::string film_title(const AppState& state, const std::string& lesson);

} // namespace headscope::app
