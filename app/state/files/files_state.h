#pragma once

#include "app/state/files/file_chooser.h"
#include "app/state/picture_choice.h"
#include "core/base/message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// What a path that is being chosen is for.
enum class PathPurpose : std::uint8_t { open, find_model, save_project, picture, numbers, script, film };

/// What a film shows, and how.
struct FilmChoice {
    std::string lesson;             ///< id of the one that plays; empty: none
    bool of_lesson = false;         ///< its pages are filmed, else the stages
    int width = 1280, height = 800; ///< logical pixels
    double rest = 2;                ///< seconds that a picture rests, a lesson's text at least
};

/// How a picture of the canvas is written, and how it will look.
struct PictureOptions {
    PictureChoice choice = {};
    std::string width = {};                             ///< in its field, as typed
    bool wrong_width = false;                           ///< which is no width
    bool focus_width = false;                           ///< the field takes the keyboard
    bool instead_of_folder = false;                     ///< in a low window
    int room_wide = 0, room_high = 0;                   ///< physical pixels for the preview; 0: none is shown
    std::shared_ptr<const PicturePreview> preview = {}; ///< null: not made yet
    std::string error = {};                             ///< why there is none
};

struct OpenChooser {
    PathPurpose purpose;
    FileChooser chooser;
    std::vector<std::string> formats; ///< suffixes to choose from when there are several
    FilmChoice film = {};
    PictureOptions picture = {};
    // What the next frame does: the name field, or that of a new folder, takes the keyboard; the list
    // scrolls to the chosen line.
    bool focus_name = true, focus_folder = false, follow_row = false;
};

/// Work that would be lost, and what waits for the answer.
struct UnsavedQuestion {
    std::string name; ///< of the project; empty when it has no file
    std::string loss; ///< "What you changed would be lost by quitting."
};

/// A project that is damaged, and of which a part can still be opened.
struct DamagedOffer {
    std::string name, error;
    std::vector<std::string> losses; ///< sentences
};

/// Work of a run that did not end well.
struct RecoveryOffer {
    std::string path; ///< of what was left behind
    std::string name; ///< of the project, or the sentence
    std::string detail;
    std::string when;
    std::string error; ///< one sentence when it could not be read
};

/// Reading or writing that is under way.
struct FileJobView {
    std::string label;    ///< "Saving lesson.headscope"
    float fraction = -1;  ///< 0 to 1; negative: unknown
    double seconds = 0;   ///< since it began
    bool blocking = true; ///< the document must not change meanwhile
};

enum class SaveState : std::uint8_t {
    untouched, ///< nothing to save
    changed,   ///< not stored anywhere yet
    autosaved, ///< can be recovered, but is not in the project's file
    saved,     ///< in the project's file
    failed     ///< could not be stored: see `save_error`
};

/// Files as the views show them.
struct FilesState {
    std::string path; ///< of the project; empty: it has no file yet
    bool unsaved = false;
    bool lesson = false; ///< a lesson's problem is on screen, and the project waits beside it
    SaveState save_state = SaveState::untouched;
    std::string save_error;
    std::vector<std::string> recent;   ///< paths, newest first
    std::vector<std::string> packaged; ///< names of the models that come with the program

    std::optional<OpenChooser> chooser;
    PictureChoice picture; ///< as the last one was written
    std::optional<UnsavedQuestion> question;
    std::optional<DamagedOffer> damaged;
    std::vector<RecoveryOffer> recoveries; ///< still to be answered
    std::optional<FileJobView> job;
    std::string notice; ///< one sentence about what was done; empty when none is shown

    static constexpr double patience = 0.3; ///< seconds before a job shows itself

    /// Something stands over the window and takes the keyboard.
    bool dialog_open() const {
        return chooser || question || damaged || !recoveries.empty() ||
               (job && (job->blocking || job->seconds > patience));
    }
    /// "lesson.headscope", or what a project without a file is called.
    std::string name() const {
        return path.empty() ? tr("files_state.untitled", "Untitled")
                            : std::filesystem::path(path).filename().string();
    }
};

} // namespace headscope::app
