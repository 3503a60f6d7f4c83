#pragma once

#include "app/commands/one_of.h"

#include <cstdint>
#include <string>
#include <variant>

namespace headscope::app {

/// These two run after the user has confirmed that no work is lost.
struct NewProject {
    bool to_course = false; ///< opens the list of lessons
};
struct QuitProgram {};
/// Opens a project or any other supported file.
struct OpenPath {
    std::string path;
};

/// Opens the file chooser for opening.
struct ChooseProject {};
/// Opens the file chooser for a checkpoint B that the open one, A, is compared with.
struct ChooseComparison {};
/// Compares the open checkpoint with the one at a path: puts the edits that turn A into B into the document,
/// as one step.
struct CompareWithCheckpoint {
    std::string path;
};
/// Replaces the project's file; asks for a name if there is none yet.
struct SaveProject {};
struct SaveProjectAs {};
/// Open file choosers for export.
struct ExportPicture {};
struct ExportNumbers {};
struct ExportScript {};
struct RecordFilm {};
/// Copies the canvas to the clipboard with the last settings of the picture chooser.
struct CopyPicture {};
/// Copies the call of `headscope render` that makes the picture of the open chooser for pictures.
struct CopyRenderCommand {};
/// Copy to the clipboard: the tensors of the current stage, the matrix under the mouse or selected, and the
/// attention input as a PyTorch script.
struct CopyStage {};
struct CopyMatrix {};
struct CopyScript {};
/// Copies the list of the strongest far weights of a long map to the clipboard.
struct CopyFarWeights {};

/// Opens the file chooser for a list of sentences.
struct ChooseSentences {};
/// Reads a list of sentences and shows the first one.
struct OpenSentences {
    std::string path;
};
/// Shows the next (+1) or the previous (-1) sentence of the list. Undo restores the sentence before.
struct StepSentence {
    int by;
};
/// Removes the list; the sentence stays.
struct DropSentences {};
/// Opens the file chooser for a file of prompts of the open checkpoint.
struct ChoosePrompts {};
/// Copy a step of a lesson that shows the present view, or append it to the file of the open lesson.
struct CopyLessonStep {};
struct AppendLessonStep {};

/// Opens the dialog that chooses another text, or another attention of an encoder-decoder, from the file of
/// the attention weights on screen.
struct ChooseAttention {};
/// Selects in that dialog: an id and a text of AttentionPart.
struct SelectAttention {
    std::string part;
    std::int64_t text;
};
/// Closes that dialog and opens what is selected, or nothing.
struct AnswerAttention {
    bool open;
};

/// The path chosen in the open chooser.
struct ChosenPath {
    std::string path;
};
struct CloseChooser {};

enum class UnsavedAnswer : std::uint8_t { save, discard, cancel };
struct AnswerUnsaved {
    UnsavedAnswer answer;
};

/// Answers whether to open the readable part of a damaged project.
struct AnswerDamaged {
    bool open;
};

/// These three answer what to do with the work of a run that ended unexpectedly.
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
/// Clears the list of recent files.
struct ForgetRecent {};

/// All file commands. None of them can be undone.
struct FileCommands {
    using Variant =
        std::variant<NewProject, QuitProgram, OpenPath, ChooseProject, ChooseComparison,
                     CompareWithCheckpoint, SaveProject, SaveProjectAs, ExportPicture, ExportNumbers,
                     ExportScript, RecordFilm, CopyPicture, CopyRenderCommand, CopyStage, CopyMatrix,
                     CopyScript, CopyFarWeights, ChooseSentences, OpenSentences, StepSentence, DropSentences,
                     ChoosePrompts, CopyLessonStep, AppendLessonStep, ChooseAttention, SelectAttention,
                     AnswerAttention, ChosenPath, CloseChooser, AnswerUnsaved, AnswerDamaged, RecoverProject,
                     DiscardRecovery, LeaveRecovery, CancelJob, ForgetRecent>;
};
extern template class OneOf<FileCommands>;
using FileCommand = OneOf<FileCommands>;

} // namespace headscope::app
