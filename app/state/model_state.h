#pragma once

#include "app/state/model_document.h"
#include "app/state/screens/causes.h"
#include "app/state/screens/circuits.h"
#include "app/state/screens/effects.h"
#include "app/state/screens/patching_map.h"
#include "core/checkpoint/generation/sampling.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

struct PromptListState;

/// One token of the vocabulary and its probability without (`before`) and with (`after`) the edits.
struct TokenProbability {
    std::int64_t id = 0;
    std::string label;
    float before = 0, after = 0;
};

/// The predictions of a model at one position.
struct Predictions {
    std::int64_t position = 0;
    std::string token;                            ///< the token at that position
    bool hidden = false;                          ///< the token is the mask token
    bool edited = false;                          ///< the run has edits or head gains
    std::vector<TokenProbability> likeliest = {}; ///< sorted by probability with the edits, largest first
    std::vector<TokenProbability> moved = {};     ///< largest change of probability by the edits first
    double kl = 0;                                ///< KL(before || after) in nats
};

/// The default sampling settings.
inline const checkpoint::SamplingSettings default_sampling{
    .temperature = 1, .top_k = 40, .top_p = 0.95, .seed = 1};

/// The state of the document's checkpoint as the views show it: the newest results, which may be older than
/// the document.
struct ModelState {
    std::string prompt, pair, target;               ///< content of the fields, valid or not
    std::optional<checkpoint::TextPair> typed_pair; ///< the texts around a separator in the prompt, until the
                                                    ///< user decides whether they are a pair
    bool one_text = false; ///< the user decided that the prompt stays one text in spite of its separator
    std::string error;     ///< one sentence about a text or the last run; empty if there is no error
    checkpoint::ModelRunPtr run;      ///< newest finished run
    checkpoint::ModelRunPtr unedited; ///< the same text without edits
    checkpoint::ModelRunPtr baseline; ///< of A, for the atlas; null while it is not known or not needed
    bool running = false;
    float fraction = 0;                   ///< progress of the current run
    std::optional<std::int64_t> position; ///< as chosen; empty: the first masked word, else the last token
    std::optional<Predictions> predictions;
    EffectsQuestion effects;
    bool shows_cause = true;                ///< the Flow selects the head that its first answer names
    std::optional<ModelHead> switched_head; ///< the head that "Why?" switched off last
    PatchingQuestion patching;
    std::string
        compared_prompt; ///< the second prompt, while its stages are shown instead of the clean prompt's
    CircuitsQuestion circuits;
    std::string survey_path;                        ///< path of the open survey; empty: none
    std::shared_ptr<const PromptListState> prompts; ///< the list of prompts next to the prompt; null: none
    std::int64_t example_prompts = 20;              ///< number of prompts that an example generates
    std::string recomputed; ///< one sentence about the layers that the last run computed

    // Generation.
    checkpoint::SamplingSettings sampling = default_sampling;
    std::optional<checkpoint::Distribution>
        next_distribution;                 ///< after the text of `run`; empty: no next token
    std::string generation_blocked_reason; ///< reason why no token can follow, one sentence; empty: one can
    bool generating = false;               ///< generation is active, token after token
    bool measuring = false;                ///< runs for the map on screen are active
    std::string stop_reason;               ///< reason why generation stopped on its own, one sentence
    std::vector<RunSpecPtr> branches;      ///< earlier continuations of the same prompt, newest first
};

/// Copies the texts of a part to the fields.
void show_texts(ModelState& model, const RunSpec& part);
/// Returns true if the fields contain the texts of the part.
bool shows_texts(const ModelState& model, const RunSpec& part);

/// Returns the current position: `chosen`, clamped, or the default.
std::int64_t position_of(const checkpoint::ModelRun& run, const checkpoint::TextModel& model,
                         std::optional<std::int64_t> chosen);

/// Returns the predictions at a position; nothing if the checkpoint has no language model head or a logit is
/// not finite. `unedited`: the run of the same text without edits. May take as long as a run: not for the
/// window's thread. Throws Error(cancelled).
std::optional<Predictions> predictions_of(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                                          const checkpoint::ModelRun& unedited, std::int64_t position,
                                          const Progress& cancel);

/// Returns the logits of the token after the text of a run (1, 1, vocab); null if the model predicts no next
/// token. Takes as long as predictions_of, and throws likewise.
TensorPtr next_logits(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                      const Progress& cancel);

/// Return the text with one more token, or without the last `count`. The part must have inputs. Throws
/// Error(input) if the model has no position left for the token or does not have the token, and if fewer than
/// `count` tokens were generated.
RunSpecPtr with_token(const RunSpec& part, std::int64_t id);
RunSpecPtr without_tokens(const RunSpec& part, std::int64_t count);
/// Returns the branches after `now` replaces `left`. `left` is added if the model generated it and `now` does
/// not continue it. Branches of other prompts are removed; at most `most_branches` remain.
std::vector<RunSpecPtr> branches_after(std::vector<RunSpecPtr> branches, const RunSpecPtr& left,
                                       const RunSpec& now);
inline constexpr std::size_t most_branches = 4;
/// Returns the number of leading tokens that a branch shares with a text of the same prompt; nothing for a
/// branch of another prompt, and for a branch that the text continues.
std::optional<std::int64_t> shared_token_count(const RunSpec& branch, const RunSpec& now);
/// Returns why a text takes no further token, one sentence; empty if there is a position for one.
std::string text_full_reason(const RunSpec& part);

/// "Layers 5 to 11 were recomputed, 0 to 4 taken over."
std::string recomputed_layers(const checkpoint::ModelRun& run);

} // namespace headscope::app
