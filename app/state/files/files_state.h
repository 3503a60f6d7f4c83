#pragma once

#include "app/state/files/attention_question.h"
#include "app/state/files/file_chooser.h"
#include "app/state/files/hub_dialog.h"
#include "app/state/picture_choice.h"
#include "core/base/message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// The purpose of the path that the user is choosing.
enum class PathPurpose : std::uint8_t {
    open,
    find_model,
    compare, ///< a checkpoint that the open one is compared with
    save_project,
    picture,
    numbers,
    script,
    film,
    sentences,
    prompts
};

/// The content and the settings of a film.
struct FilmChoice {
    std::string lesson;             ///< id of the lesson to film; empty: none
    bool of_lesson = false;         ///< films the lesson's pages instead of the stages
    int width = 1280, height = 800; ///< logical pixels
    double rest = 2;                ///< seconds that each picture stays; for the text of a lesson, at least
};

/// The settings of a canvas picture and its preview.
struct PictureOptions {
    PictureChoice choice = {};
    std::string width = {};           ///< content of the width field, as typed
    bool wrong_width = false;         ///< the width is not valid
    bool focus_width = false;         ///< the width field takes the keyboard focus
    bool instead_of_folder = false;   ///< shown instead of the folder, in a low window
    int room_wide = 0, room_high = 0; ///< space for the preview, in physical pixels; 0: no preview
    std::shared_ptr<const PicturePreview> preview = {}; ///< null: not ready yet
    std::string error = {};                             ///< reason if there is no preview
};

struct OpenChooser {
    PathPurpose purpose;
    FileChooser chooser;
    std::vector<std::string> formats; ///< suffixes to choose from if there are several
    FilmChoice film = {};
    PictureOptions picture = {};
    // Requests for the next frame: the name field or the field of a new folder takes the keyboard focus; the
    // list scrolls to the selected row.
    bool focus_name = true, focus_folder = false, follow_row = false;
};

/// Asks about unsaved work before an action that would discard it.
struct UnsavedQuestion {
    std::string name; ///< name of the project; empty if it has no file
    std::string loss; ///< "What you changed would be lost by quitting."
};

/// Offers to open the readable part of a damaged project.
struct DamagedOffer {
    std::string name, error;
    std::vector<std::string> losses; ///< sentences that say which parts are lost
};

/// Work of a run that ended unexpectedly.
struct RecoveryOffer {
    std::string path; ///< path of the recovery file
    std::string name; ///< name of the project, or the sentence of the attention input
    std::string detail;
    std::string when;
    std::string error; ///< one sentence if it could not be read
};

/// A read or write in progress.
struct FileJobView {
    std::string label;    ///< "Saving lesson.headscope"
    float fraction = -1;  ///< 0 to 1; negative: unknown
    double seconds = 0;   ///< elapsed time
    bool blocking = true; ///< the document must not change during the job
};

enum class SaveState : std::uint8_t {
    untouched, ///< nothing to save
    changed,   ///< not stored anywhere yet
    autosaved, ///< can be recovered, but is not in the project's file
    saved,     ///< in the project's file
    failed     ///< could not be stored: see `save_error`
};

/// The state of files as the views show it.
struct FilesState {
    std::string path; ///< path of the project; empty: it has no file yet
    bool unsaved = false;
    bool unsaved_edits = false; ///< of a checkpoint: edits by hand, in an unsaved document
    bool lesson = false;        ///< a lesson's input is on screen, and the project is kept in the background
    SaveState save_state = SaveState::untouched;
    std::string save_error;
    std::vector<std::string> recent;   ///< paths, most recent first
    std::vector<std::string> packaged; ///< names of the models that ship with the program

    std::optional<OpenChooser> chooser;
    std::optional<HubDialog> hub;
    std::optional<AttentionQuestion> attention; ///< what to show of a file of attention weights
    PictureChoice picture;                      ///< the settings of the last picture
    std::optional<UnsavedQuestion> question;
    std::optional<DamagedOffer> damaged;
    std::vector<RecoveryOffer> recoveries; ///< not answered yet
    std::optional<FileJobView> job;
    std::string notice; ///< one sentence about the last action; empty if none is shown

    static constexpr double progress_delay = 0.3; ///< seconds before the progress of a job is shown

    /// Returns true if a dialog is open over the window and takes the keyboard.
    bool dialog_open() const {
        return chooser || hub || attention || question || damaged || !recoveries.empty() ||
               (job && (job->blocking || job->seconds > progress_delay));
    }
    /// "lesson.headscope", or the title of a project without a file.
    std::string name() const {
        return path.empty() ? tr("files_state.untitled", "Untitled")
                            : std::filesystem::path(path).filename().string();
    }
};

} // namespace headscope::app
