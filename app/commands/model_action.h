#pragma once

#include "app/commands/one_of.h"
#include "app/state/prompts/prompt_order.h"
#include "core/analysis/effects/patching.h"
#include "core/checkpoint/generation/sampling.h"
#include "core/checkpoint/model/stacks.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace headscope::app {

/// Sets the prompt of the open checkpoint.
struct TypePrompt {
    std::string prompt;
    bool alone = false; ///< also removes the second text
};
/// Sets the second text next to the prompt; empty: none.
struct TypePair {
    std::string pair;
};
/// Answers the question about a separator in the prompt: split into two texts, or keep one.
struct DecidePair {
    bool two;
};
/// Sets the decoder's text of the open encoder-decoder.
struct TypeTarget {
    std::string target;
};
/// Replaces the decoder's text with the generated one; see with_first_target.
struct GenerateTarget {};
/// Shows the predictions at this position; -1: the default position.
struct PredictAt {
    std::int64_t position;
};
/// Appends a token to the text after the run is finished; empty: a sampled token.
struct GenerateToken {
    std::optional<std::int64_t> id;
};
/// Starts or stops generating token after token.
struct SetGenerating {
    bool on;
};
/// Removes the newest generated tokens.
struct RemoveTokens {
    std::int64_t tokens = 1; ///< at most the number of generated tokens
};
/// Returns to an earlier continuation: an index into ModelState::branches.
struct SelectBranch {
    std::size_t number;
};
/// Sets the sampling settings. Throws what check_settings throws.
struct SetSampling {
    checkpoint::SamplingSettings settings;
};
/// Chooses the logits whose effects are shown. Throws Error(input) if a word is not exactly one token.
struct AskEffects {
    enum class What : std::uint8_t { token, against, usual };
    What what = What::usual; ///< usual: the most likely token minus the next one
    std::string word = {};   ///< or an id if there is no tokenizer; empty for `against`: the mean
};
/// Opens the effects screen with the two tokens of an answer to "Why?" and the head that it names.
struct ShowCauseDetails {
    std::int64_t token, against;
    checkpoint::AttentionPlace place = {};
    std::int64_t head = -1; ///< -1: the open head stays
};
/// Chooses the second prompt of patching, and which activations of the document's prompt are patched into it.
struct AskPatching {
    std::optional<std::string> corrupted = {};
    std::optional<analysis::PatchKind> kind = {};
    bool paths = false; ///< path patching from the open head, if neither kind nor prompt is given
};
/// Changes the question about the weights of the open head; absent: unchanged.
struct AskCircuits {
    std::optional<std::string> word = {}; ///< the input token; empty: the selected one
    std::optional<bool> through_mlp = {};
    std::optional<float> threshold = {};
};
/// Stops the runs that fill the current map, keeping their results, or continues them.
struct MeasureRuns {
    bool on;
};
/// Shows the run of one cell of the patching map: the second prompt with that activation of this one.
struct OpenPatch {
    std::int64_t row, column;
};
/// Returns from a patched run to the prompt that the activation was taken from.
struct LeavePatch {};
/// Swaps the document's prompt and the corrupted prompt.
struct SwapPrompts {};
/// Shows the results of a survey of this checkpoint in the atlas instead of those of this text.
struct OpenSurvey {
    std::string path;
};
/// Opens a file of prompts as the list next to the prompt.
struct OpenPrompts {
    std::string path;
};
/// Generates prompts of a task with words of the checkpoint's vocabulary, as the list next to the prompt.
struct GeneratePrompts {
    std::string task; ///< an id of analysis::prompt_tasks()
};
/// Sets the number of prompts that GeneratePrompts generates: 1 to most_example_prompts.
struct SetPromptCount {
    std::int64_t count;
};
/// Shows a prompt of the list, by its index in the file; throws Error(input) with the fault of its line.
struct ShowListedPrompt {
    std::size_t index;
};
/// Shows the next (+1) or the previous (-1) usable prompt, in the order on screen.
struct StepListedPrompt {
    int by;
};
/// Sorts the list.
struct SortPrompts {
    PromptOrder order;
};
/// Shows means over the list on the atlas, the effects and the patching screen, or the open prompt again.
struct ShowPromptMean {
    bool on;
};
/// Removes the list; the prompt stays.
struct ClosePrompts {};
/// All actions on an open checkpoint except edits.
struct ModelActions {
    using Variant =
        std::variant<TypePrompt, TypePair, DecidePair, TypeTarget, GenerateTarget, PredictAt, GenerateToken,
                     SetGenerating, RemoveTokens, SetSampling, AskEffects, AskPatching, AskCircuits,
                     MeasureRuns, OpenPatch, LeavePatch, SwapPrompts, OpenSurvey, SelectBranch,
                     ShowCauseDetails, OpenPrompts, GeneratePrompts, SetPromptCount, ShowListedPrompt,
                     StepListedPrompt, SortPrompts, ShowPromptMean, ClosePrompts>;
};
extern template class OneOf<ModelActions>;
using ModelAction = OneOf<ModelActions>;

} // namespace headscope::app
