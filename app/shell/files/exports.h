#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/files/files_state.h"
#include "app/state/picture_choice.h"
#include "app/state/view_state.h"
#include "core/base/progress.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// A copy of the content of the screen, for an export job.
struct ScreenSnapshot {
    Shown shown; ///< with a trace
    ViewState view;
    std::shared_ptr<const HeadGrid> head_grid = {}; ///< null: there is none, or the canvas does not show it
};

/// A file that shows the content of the screen: a picture, numbers, a script or a film, with its settings.
struct FileToWrite {
    PathPurpose purpose;
    std::string path;
    PictureChoice picture = {};
    FilmChoice film = {};
};

/// Writes the canvas as .png, .svg or .pdf, depending on the extension. Throws Error(input).
void write_picture(const ScreenSnapshot& screen, const PictureChoice& choice, const std::string& path);
/// Returns that picture as PNG bytes.
std::string picture_png(const ScreenSnapshot& screen, const PictureChoice& choice);
/// The same picture within a size limit in pixels.
PicturePreview preview_picture(const ScreenSnapshot& screen, const PictureChoice& choice, int wide, int high);
/// Writes the main tensor of the canvas, or the visible part of a long map, as .npy, .npz, .csv, .tsv or
/// .safetensors; attention weights also as .circuitsvis.json; the table of another screen as .csv or .tsv.
/// Throws Error(input).
void write_numbers(const ScreenSnapshot& screen, const std::string& path);
/// Returns a sentence about the part of a long map that a picture, or its numbers, contain; empty on other
/// screens.
std::string part_description(const ScreenSnapshot& screen, bool numbers);
/// Writes the attention input as a PyTorch script; for a step around the attention of a checkpoint, its whole
/// layer, which is run again. Throws Error(input), and Error(cancelled).
void write_script(const ScreenSnapshot& screen, const std::string& path, Progress& progress);

/// Text for the clipboard, and a sentence that describes it. All functions throw Error(input) if there is
/// nothing to copy or too much.
struct Copied {
    std::string text, message;
};
Copied copy_stage(const ScreenSnapshot& screen);
/// The matrix of the cell that the inspector shows: the hovered one, else the selected one.
Copied copy_matrix(const ScreenSnapshot& screen);
Copied copy_script(const ScreenSnapshot& screen);
/// The list of the strongest weights far from the diagonal of a long map.
Copied copy_far_weights(const ScreenSnapshot& screen);

/// Supported extensions, the default first.
const std::vector<std::string>& picture_suffixes();
const std::vector<std::string>& number_suffixes(const Shown& shown, const ViewState& view);

/// Returns the reading options as part of a file name: "-first-hidden-words-merged"; empty for unchanged
/// weights.
std::string reading_suffix(const analysis::ReadingOptions& options);

/// Returns a file name for a sentence: "the-cat-sat-down"; at most 40 bytes, never empty.
std::string file_stem(const std::string& sentence);

} // namespace headscope::app
