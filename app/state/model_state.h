#pragma once

#include "app/state/model_document.h"
#include "app/state/screens/circuits.h"
#include "app/state/screens/effects.h"
#include "app/state/screens/patching_map.h"
#include "core/checkpoint/run/sampling.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// One token of a model's vocabulary, and how likely the model holds it: without the edits, and with them.
struct TokenOdds {
    std::int64_t id = 0;
    std::string label;
    float before = 0, after = 0;
};

/// What a model says at one position.
struct Predictions {
    std::int64_t position = 0;
    std::string token;                     ///< that stands there
    bool hidden = false;                   ///< it is the token that stands for a hidden word
    bool edited = false;                   ///< some edit or gain is laid over the model
    std::vector<TokenOdds> likeliest = {}; ///< with the edits, likeliest first
    std::vector<TokenOdds> moved = {};     ///< whose probability the edits moved most; empty without edits
    double kl = 0;                         ///< KL(before || after) in nats
};

/// How tokens are taken until the user chooses otherwise.
inline const checkpoint::SamplingSettings usual_sampling{
    .temperature = 1, .top_k = 40, .top_p = 0.95, .seed = 1};

/// The checkpoint of the document as the views show it: what was computed last, which may lag behind.
struct ModelState {
    std::string prompt, pair, target;               ///< as they stand in the fields, valid or not
    std::optional<checkpoint::TextPair> typed_pair; ///< the texts around a separator inside the prompt,
                                                    ///< until the user decides whether they are two
    std::string error;                ///< one sentence about a text or the last run; empty when all is well
    checkpoint::ModelRunPtr run;      ///< newest that is over
    checkpoint::ModelRunPtr unedited; ///< the same text without edits
    bool running = false;
    float fraction = 0;                   ///< of the run that is under way
    std::optional<std::int64_t> position; ///< as chosen; empty: the first hidden word, else the last token
    std::optional<Predictions> predictions;
    EffectsQuestion effects;
    PatchingQuestion patching;
    std::string compared; ///< the second prompt while its stages stand in place of the clean prompt's
    CircuitsQuestion circuits;
    std::string survey;     ///< path of one that is open; empty: none
    std::string recomputed; ///< which layers the last run computed, one sentence

    // Writing on.
    checkpoint::SamplingSettings sampling = usual_sampling;
    std::optional<checkpoint::Distribution> next; ///< after the text of `run`; empty: it predicts no next
                                                  ///< token
    std::string cannot_write;                     ///< why no token can follow, one sentence; empty: one can
    bool writing = false;                         ///< token after token
    bool measuring = false;                       ///< runs fill the map on screen
    std::string stopped;                          ///< why that ended by itself, one sentence
    std::vector<ModelPartPtr> branches; ///< texts written on from one prompt and left, the newest first
};

/// Copies the texts of a part into the fields.
void show_texts(ModelState& model, const ModelPart& part);
/// Returns true if the fields have the texts of the part.
bool shows_texts(const ModelState& model, const ModelPart& part);

/// The position that is looked at: `chosen`, clamped, or the usual one.
std::int64_t position_of(const checkpoint::ModelRun& run, const checkpoint::TextModel& model,
                         std::optional<std::int64_t> chosen);

/// What the model says at a position; nothing when the checkpoint has no head. `unedited`: the same text. May
/// take as long as a run: not for the window's thread. Throws Error(cancelled).
std::optional<Predictions> predictions_of(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                                          const checkpoint::ModelRun& unedited, std::int64_t position,
                                          const Progress& cancel);

/// The logits of the token after the text of a run (1, 1, vocab); null when the model predicts no next token.
/// As long as predictions_of, and throws likewise.
TensorPtr next_logits(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                      const Progress& cancel);

/// A text with a token more, or without the last `count`: of a part with inputs. Throws Error(input) when the
/// model has no place for the token or no such token, and when fewer tokens were written.
ModelPartPtr with_token(const ModelPart& part, std::int64_t id);
ModelPartPtr without_tokens(const ModelPart& part, std::int64_t count);
/// The branches once `now` stands in place of `left`: that is one more where the model wrote it and `now`
/// does not go on with it; those of another prompt go, and at most `most_branches` stay.
std::vector<ModelPartPtr> branches_after(std::vector<ModelPartPtr> branches, const ModelPartPtr& left,
                                         const ModelPart& now);
inline constexpr std::size_t most_branches = 4;
/// The tokens from the start that a branch has in common with a text of the same prompt; nothing for a branch
/// of another one, and for one that the text goes on with.
std::optional<std::int64_t> parts_at(const ModelPart& branch, const ModelPart& now);
/// Why a text takes no further token, one sentence; empty when there is a position for one.
std::string why_full(const ModelPart& part);

/// "Layers 5 to 11 were recomputed, 0 to 4 taken over."
std::string recomputed_layers(const checkpoint::ModelRun& run);

} // namespace headscope::app
