#pragma once

#include "app/commands/one_of.h"

#include <cstdint>
#include <string>
#include <variant>

namespace headscope::app {

/// What goes on once it is sure that nothing is lost.
struct NewProject {
    bool to_course = false; ///< to the list of lessons
};
struct QuitProgram {};
/// A project, or whatever else the program can open.
struct OpenPath {
    std::string path;
};

/// A chooser for what is to be opened.
struct ChooseProject {};
/// Over the project's file; asks for a name when there is none yet.
struct SaveProject {};
struct SaveProjectAs {};
/// Choosers for what is written out.
struct ExportPicture {};
struct ExportNumbers {};
struct ExportScript {};
struct RecordFilm {};
/// To the clipboard: the canvas as the picture chooser was set last.
struct CopyPicture {};
/// To the clipboard: the tensors of the stage on screen, the matrix under the mouse or selected, and the
/// problem as a PyTorch script.
struct CopyStage {};
struct CopyMatrix {};
struct CopyScript {};
/// To the clipboard: the list of the strongest far weights of a long map.
struct CopyFarWeights {};

/// A path that was chosen in the chooser that is open.
struct ChosenPath {
    std::string path;
};
struct CloseChooser {};

enum class UnsavedAnswer : std::uint8_t { save, discard, cancel };
struct AnswerUnsaved {
    UnsavedAnswer answer;
};

/// Whether what is left of a damaged project is opened.
struct AnswerDamaged {
    bool open;
};

/// What was left behind by a run that did not end well.
struct RecoverProject {
    std::string path;
};
struct DiscardRecovery {
    std::string path;
};
struct LeaveRecovery {
    std::string path;
};

struct CancelJob {};
/// The list of recent files becomes empty.
struct ForgetRecent {};

/// Everything about files that the user can ask for. None of it can be undone.
struct FileCommands {
    using Variant =
        std::variant<NewProject, QuitProgram, OpenPath, ChooseProject, SaveProject, SaveProjectAs,
                     ExportPicture, ExportNumbers, ExportScript, RecordFilm, CopyPicture, CopyStage,
                     CopyMatrix, CopyScript, CopyFarWeights, ChosenPath, CloseChooser, AnswerUnsaved,
                     AnswerDamaged, RecoverProject, DiscardRecovery, LeaveRecovery, CancelJob, ForgetRecent>;
};
extern template class OneOf<FileCommands>;
using FileCommand = OneOf<FileCommands>;

} // namespace headscope::app
