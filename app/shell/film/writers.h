#pragma once

#include "app/shell/film/recorder.h"

#include <memory>
#include <string>

namespace headscope::app {

enum class FilmFormat { gif, mp4, html };
/// The format that the path's ending names. Throws Error(input) for another ending, naming the three.
FilmFormat film_format(const std::string& path);

/// A GIF or MP4, made by the program ffmpeg, which gets the frames as they come. Throws Error(machine) when
/// ffmpeg is not in PATH, Error(input) when it cannot encode such pictures: MP4 needs even numbers of pixels.
std::unique_ptr<FilmWriter> video_writer(FilmFormat format, const FilmLook& look);

/// What a page of HTML says of the film in it.
struct FilmPage {
    std::string title, language = "en"; ///< of the texts
    bool dark = false;
};

/// One page of HTML that needs no other file: the pictures that rest, each with its title and text, one below
/// the other, or one by one where scripts run.
std::unique_ptr<FilmWriter> page_writer(const FilmPage& page, const FilmLook& look);

/// The writer of a format. Throws as video_writer does.
std::unique_ptr<FilmWriter> film_writer(FilmFormat format, const FilmPage& page, const FilmLook& look);
/// What a film of the program is called; `lesson`: the id of the one that is filmed, empty: none.
std::string film_title(const AppState& state, const std::string& lesson);

} // namespace headscope::app
