#pragma once

#include "app/commands/change_id.h"
#include "app/commands/edit_commands.h"
#include "app/commands/file_command.h"
#include "app/commands/lesson_action.h"
#include "app/commands/model_action.h"
#include "app/commands/one_of.h"
#include "app/commands/view_change.h"
#include "app/commands/window_action.h"
#include "app/state/document.h"
#include "app/state/engine_state.h"
#include "app/state/files/hub_dialog.h"
#include "app/state/view_state.h"
#include "core/checkpoint/model/stacks.h"

#include <optional>
#include <string>
#include <variant>

namespace headscope::app {

struct SetSentence {
    std::string sentence;
};
/// Computes keys and values from a second sentence; absent: from the same one, as in self-attention.
struct SetKvSentence {
    std::optional<std::string> sentence;
};
struct SetPreset {
    std::string id;
};
struct SetMask {
    project::MaskChoice mask;
};
/// Splits the same weights among H heads.
struct SetHeads {
    std::int64_t H;
};
/// Averages the key and value heads in groups, so that Hkv remain; H: one per query head.
struct SetKvHeads {
    std::int64_t Hkv;
};
struct SetIdentityOutput {
    bool identity;
};
struct SetSeed {
    std::uint64_t seed;
};

/// Sets one number of x, x_kv, a weight or a bias.
struct EditCell {
    CellAddress cell;
    float value;
};
/// Sets a head gain. 1: unchanged, 0: ablated; 0 to 2 on screen.
struct SetGain {
    std::int64_t head;
    float gain;
};
/// Sets the gain of a head in any attention of a checkpoint, whether it is open or not.
struct SetHeadGain {
    checkpoint::AttentionPlace place;
    std::int64_t head;
    float gain;
};
struct SetTemperature {
    float temperature;
};
/// Replaces the whole attention input; the label names the history entry.
struct SetRecipe {
    project::Recipe recipe;
    std::string label;
};
/// Restores the state of the preset or the file: drops edits, head gains, temperature and the painted mask.
struct ResetEdits {};

/// All changes to the document.
struct Commands {
    using Variant =
        std::variant<SetSentence, SetKvSentence, SetPreset, SetMask, SetHeads, SetKvHeads, SetIdentityOutput,
                     SetSeed, EditCell, SetGain, SetTemperature, ResetEdits, EditBlock, PasteBlock, CopyHead,
                     SwapHeads, ResetHead, PaintMask, ResetMask, SetRecipe, ResetActivation, SetHeadGain>;
};
extern template class OneOf<Commands>;
using Command = OneOf<Commands>;

CommandName name_of(const Document& before, const Command& command);

/// Returns the target of a command, for the history.
ChangeId change_of(const Document& before, const Command& command);
/// The target of a change of a checkpoint's prompt.
inline constexpr ChangeId prompt_change{std::variant_size_v<Commands::Variant> + 1};

/// Returns the command for typed text. Throws Error(input) if it is not a number.
EditCell parse_edit(const TypedNumber& typed);

/// Applies the chosen operation to the selected block and remembers its parameters.
struct OperateOn {
    OperationChoice choice;
};
/// Copies the selected block to the clipboard as TSV.
struct CopyNumbers {};
/// Pastes the clipboard's numbers, starting at the selected cell.
struct PasteNumbers {};
/// Dismisses the notice, and with `error_too` also the error.
struct DismissNotice {
    bool error_too = false;
};

/// Moves back (-1) or forward (+1) through the states of the document.
struct MoveInHistory {
    std::int64_t by;
};

/// Returns the document after a command. Throws Error(input) with a message for the user; the old document
/// stays valid.
DocumentPtr apply(const DocumentPtr& document, const Command& command);

/// Sets the baseline A to the current document, or to the same without edits, head gains and temperature.
struct MarkBaseline {
    bool as_built = false;
};
struct DropBaseline {};
/// Sets A to the run of this prompt and shows the run of the second prompt of patching, as B − A.
struct ComparePrompts {};
/// Copies the first prompt to the second prompt of patching and moves the keyboard focus to its field.
struct CopyFirstPrompt {};

/// Every action that a click or a key can send.
struct AllActions {
    using Variant =
        std::variant<Command, ViewChange, MoveInHistory, TypedNumber, TypedWord, OperateOn, CopyNumbers,
                     PasteNumbers, DismissNotice, FileCommand, MarkBaseline, DropBaseline, ComparePrompts,
                     CopyFirstPrompt, LessonAction, EngineAction, ModelAction, WindowAction, HubAction>;
};
extern template class OneOf<AllActions>;
using Action = OneOf<AllActions>;

/// Returns the action that replaces the word in the newest text, which can be newer than the text on screen:
/// in the document's sentence, or in `prompt` for a checkpoint. Throws Error(input) if no word is left, or if
/// the text changed across an edge of the word.
Action replaced_word(const Document& document, const std::string& prompt, const TypedWord& typed);

} // namespace headscope::app
