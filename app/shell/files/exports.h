#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/picture_choice.h"
#include "app/state/view_state.h"

#include <string>
#include <vector>

namespace headscope::app {

/// What is on screen, kept for a job that writes it out.
struct OnScreen {
    Shown shown; ///< with a trace
    ViewState view;
};

/// The canvas as a .png, .svg or .pdf, by the path's ending. Throws Error(input).
void write_picture(const OnScreen& screen, const PictureChoice& choice, const std::string& path);
/// The bytes of that picture as a PNG.
std::string picture_png(const OnScreen& screen, const PictureChoice& choice);
/// The same picture, no larger than so many pixels.
PicturePreview preview_picture(const OnScreen& screen, const PictureChoice& choice, int wide, int high);
/// The tensor that the canvas is about, or what is seen of a long map, as .npy, .csv, .tsv or .safetensors;
/// the table of another screen as .csv or .tsv. Throws Error(input).
void write_numbers(const OnScreen& screen, const std::string& path);
/// The part of a long map that a picture, or its numbers, hold, as a sentence; empty on other screens.
std::string written_part(const OnScreen& screen, bool numbers);
/// The problem as a PyTorch script. Throws Error(input).
void write_script(const OnScreen& screen, const std::string& path);

/// Text for the clipboard, and the sentence that says what it is. All throw Error(input) when there is
/// nothing to copy or too much.
struct Copied {
    std::string text, said;
};
Copied copy_stage(const OnScreen& screen);
/// The matrix of the cell that the inspector speaks of: the one under the mouse, else the selected one.
Copied copy_matrix(const OnScreen& screen);
Copied copy_script(const OnScreen& screen);
/// The list of the strongest weights far from the diagonal of a long map.
Copied copy_far_weights(const OnScreen& screen);

/// The endings there are, the usual one first.
const std::vector<std::string>& picture_suffixes();
const std::vector<std::string>& number_suffixes(const Shown& shown, const ViewState& view);

/// What a file name says of how weights are read: "-first-hidden-words-merged"; empty where as they are held.
std::string reading_suffix(const analysis::ReadingOptions& options);

/// A file name from a sentence: "the-cat-sat-down"; at most 40 characters, never empty.
std::string file_stem(const std::string& sentence);

} // namespace headscope::app
