#pragma once

#include "app/commands/one_of.h"
#include "core/analysis/effects/patching.h"
#include "core/checkpoint/run/sampling.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace headscope::app {

/// Another text for the checkpoint that is open.
struct TypePrompt {
    std::string prompt;
    bool alone = false; ///< also removes the second text
};
/// Another second text beside the prompt; empty: none.
struct TypePair {
    std::string pair;
};
/// The answer to the question about a separator inside the prompt: make two texts, or keep one.
struct DecidePair {
    bool two;
};
/// Another text for the decoder of the encoder-decoder that is open.
struct TypeTarget {
    std::string target;
};
/// Puts what the decoder writes by itself in place of its text; see with_first_target.
struct WriteTarget {};
/// Predictions at this position of the text; -1: the usual one.
struct PredictAt {
    std::int64_t position;
};
/// Puts a token behind the text, once the text is run; empty: the one that the sampling takes.
struct WriteToken {
    std::optional<std::int64_t> id;
};
/// Writes token after token, or stops that.
struct WriteOn {
    bool on;
};
/// Takes the newest tokens away, which the model wrote.
struct TakeBack {
    std::int64_t tokens = 1; ///< at most as many as the model wrote
};
/// Goes back to a text that was written on and left: one of ModelState::branches, by its number.
struct TakeBranch {
    std::size_t number;
};
/// How tokens are taken. Throws what check_settings throws.
struct SetSampling {
    checkpoint::SamplingSettings settings;
};
/// Which logits the effects are shown of. Throws Error(input) for what is not one token.
struct AskEffects {
    enum class What : std::uint8_t { token, against, usual };
    What what = What::usual; ///< usual: the likeliest token less the next one
    std::string word = {};   ///< or an id where there is no tokenizer; of `against` empty: the mean
};
/// The prompt that runs with activations of the document's, and which ones.
struct AskPatching {
    std::optional<std::string> corrupted = {};
    std::optional<analysis::PatchKind> kind = {};
    bool paths = false; ///< from the open head, where no kind is given and no prompt
};
/// What is asked of the weights of the open head; absent: as it was.
struct AskCircuits {
    std::optional<std::string> word = {}; ///< the token that is read; empty: the selected one
    std::optional<bool> through_mlp = {};
    std::optional<float> threshold = {};
};
/// Stops the runs that fill the map on screen, which keeps what they measured, or goes on with them.
struct MeasureRuns {
    bool on;
};
/// Shows the run of one cell of the patching map: the second prompt's, with that activation of this one's.
struct OpenPatch {
    std::int64_t row, column;
};
/// Goes back from there to the prompt that the activation is taken from.
struct LeavePatch {};
/// Puts the corrupted prompt in the document's place, and the document's prompt in its own.
struct SwapPrompts {};
/// Shows what a survey of this checkpoint found on the atlas, in place of this text.
struct OpenSurvey {
    std::string path;
};
/// What the user can do to an open checkpoint beside editing it.
struct ModelActions {
    using Variant =
        std::variant<TypePrompt, TypePair, DecidePair, TypeTarget, WriteTarget, PredictAt, WriteToken,
                     WriteOn, TakeBack, SetSampling, AskEffects, AskPatching, AskCircuits, MeasureRuns,
                     OpenPatch, LeavePatch, SwapPrompts, OpenSurvey, TakeBranch>;
};
extern template class OneOf<ModelActions>;
using ModelAction = OneOf<ModelActions>;

} // namespace headscope::app
