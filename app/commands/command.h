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
#include "app/state/view_state.h"

#include <optional>
#include <string>
#include <variant>

namespace headscope::app {

struct SetSentence {
    std::string sentence;
};
/// Keys and values from a second sentence; absent: from the same one, as in self-attention.
struct SetKvSentence {
    std::optional<std::string> sentence;
};
struct SetPreset {
    std::string id;
};
struct SetMask {
    project::MaskChoice mask;
};
/// Deals the same weights to H heads.
struct SetHeads {
    std::int64_t H;
};
/// Averages the key and value heads down to Hkv; H: one per query head.
struct SetKvHeads {
    std::int64_t Hkv;
};
struct SetIdentityOutput {
    bool identity;
};
struct SetSeed {
    std::uint64_t seed;
};

/// One number of x, x_kv, a weight or a bias.
struct EditCell {
    CellAddress cell;
    float value;
};
/// 1: untouched, 0: ablated; 0 to 2 on screen.
struct SetGain {
    std::int64_t head;
    float gain;
};
struct SetTemperature {
    float temperature;
};
/// Another problem as a whole; the label names it in the history.
struct SetRecipe {
    project::Recipe recipe;
    std::string label;
};
/// Everything as the preset or the file gave it: edits, gains, temperature and painted mask are dropped.
struct ResetEdits {};

/// Everything the user can do to the document.
struct Commands {
    using Variant =
        std::variant<SetSentence, SetKvSentence, SetPreset, SetMask, SetHeads, SetKvHeads, SetIdentityOutput,
                     SetSeed, EditCell, SetGain, SetTemperature, ResetEdits, EditBlock, PasteBlock, CopyHead,
                     SwapHeads, ResetHead, PaintMask, ResetMask, SetRecipe, ReleaseNumber>;
};
extern template class OneOf<Commands>;
using Command = OneOf<Commands>;

CommandName name_of(const Document& before, const Command& command);

/// What a command changes, for the history.
ChangeId change_of(const Document& before, const Command& command);
/// What another prompt of a checkpoint changes.
inline constexpr ChangeId prompt_change{std::variant_size_v<Commands::Variant> + 1};

/// What was typed into the number field for a cell.
struct TypedNumber {
    CellAddress cell;
    std::string text;
};
/// The command that typed text asks for. Throws Error(input) saying what is no number.
EditCell parse_edit(const TypedNumber& typed);

/// Does the chosen operation to the selected block, and keeps its numbers for the next time.
struct OperateOn {
    OperationChoice choice;
};
/// The selected block to the clipboard as TSV.
struct CopyNumbers {};
/// The clipboard's numbers from the selected cell on.
struct PasteNumbers {};
/// The user has read the notice, and with `error_too` the error.
struct DismissNotice {
    bool error_too = false;
};

/// Back (-1) or forth (+1) through the states of the document.
struct MoveInHistory {
    std::int64_t by;
};

/// The document after a command. Throws Error(input) with the sentence to show; the old document stays valid.
DocumentPtr apply(const DocumentPtr& document, const Command& command);

/// From now on A is what is on screen, or the same without edits, gains and temperature.
struct MarkBaseline {
    bool as_built = false;
};
struct DropBaseline {};
/// The run of this prompt becomes A, and that of the second prompt of patching the one on screen, as B − A.
struct ComparePrompts {};
/// The second prompt of patching becomes a copy of the first, and its field takes the keyboard.
struct CopyFirstPrompt {};

/// Everything that can come of a click or a key.
struct AllActions {
    using Variant =
        std::variant<Command, ViewChange, MoveInHistory, TypedNumber, OperateOn, CopyNumbers, PasteNumbers,
                     DismissNotice, FileCommand, MarkBaseline, DropBaseline, ComparePrompts, CopyFirstPrompt,
                     LessonAction, EngineAction, ModelAction, WindowAction>;
};
extern template class OneOf<AllActions>;
using Action = OneOf<AllActions>;

} // namespace headscope::app
