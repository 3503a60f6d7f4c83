#pragma once

#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/model/text_pair.h"
#include "core/text/tokenizer/tokenizer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// A checkpoint with what turns a prompt into its tokens. Immutable; any thread may use it.
struct TextModel {
    std::shared_ptr<const Model> model;
    std::shared_ptr<const text::Tokenizer> tokenizer; ///< null: prompts are ids
    std::string no_tokenizer;                         ///< why there is none, in one sentence
    /// Names tokens where there is no tokenizer, but cannot split texts as the model needs it; else null.
    std::shared_ptr<const text::Tokenizer> vocabulary = {};
    PairForm pairs = {};       ///< for the stack that reads prompts
    std::int64_t mask_id = -1; ///< of the token that stands for a hidden word; -1: there is none
    std::vector<std::int64_t>
        end_ids; ///< of tokens that end a text: those that generation_config.json names, else
                 ///< config.json or a GGUF file, else tokenizer_config.json; empty: none is known

    /// Trained to guess hidden words from both sides; else the next word from those before it.
    bool masked() const;
    std::string name() const; ///< see checkpoint_name
};
using TextModelPtr = std::shared_ptr<const TextModel>;

/// Opens a checkpoint that can be run. Throws Error(input) for what Model::open and require_runnable throw; a
/// tokenizer that cannot be read is no error.
TextModelPtr open_text_model(const std::string& path);

/// The tokens of a prompt, with labels: a text, or ids between blanks and commas where there is no tokenizer.
/// An encoder-decoder's encoder reads the prompt, and its decoder the start token and `target`, which may be
/// empty; see decoder_ids. second: the second of two texts, or empty. Throws Error(input) with a sentence
/// about the prompt.
ModelInputs prompt_inputs(const TextModel& model, const std::string& prompt, const std::string& target = {},
                          const std::string& second = {});

/// Throws Error(input) if `second` is not empty and the tokenizer has no form for two texts.
void check_pair(const TextModel& model, const std::string& second);

/// The tokens that a decoder reads: the start token and those of a text, which may be empty.
std::vector<std::int64_t> target_ids(const TextModel& model, const std::string& target);

/// As prompt_inputs, for tokens that are known, at least one; source: what an encoder reads, else empty.
/// Throws what check_inputs throws.
ModelInputs token_inputs(const TextModel& model, std::vector<std::int64_t> ids,
                         std::vector<ModelInputs> source = {});

/// The text of the tokens, without special tokens; where there is no tokenizer their ids, with `between`.
std::string text_of(const TextModel& model, const std::vector<std::int64_t>& ids, const char* between);

/// Throws Error(input) naming the first character of the prompt, blanks aside, that no token stands for: the
/// vocabulary has none for it, and none for what is unknown.
void require_all_read(const TextModel& model, const std::string& prompt);

/// A prompt to begin with: one that fits the model, or its encoder.
std::string first_prompt(const TextModel& model);

/// The token that a word is: with a blank before it where the vocabulary has such a token, else without.
/// Throws Error(input) where there is no tokenizer, and for a word of several tokens, of which it names the
/// first.
std::int64_t word_token(const TextModel& model, const std::string& word);

/// How people read a token of the model's vocabulary, a blank at its beginning marked "·".
std::string label_of(const TextModel& model, std::int64_t id);

} // namespace headscope::checkpoint
