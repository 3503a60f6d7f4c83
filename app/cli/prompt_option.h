#pragma once

#include "app/cli/model_options.h"
#include "core/analysis/prompts/prompt_set.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headscope::cli {

/// A model that runs on the CPU with edits: --model, --gain, --patch and --device.
class EditedModelOption {
public:
    void add_to(CLI::App& command,
                const std::string& model_help = "a checkpoint folder or GGUF file, or pocket",
                const std::string& gain_help = "scale a head: 3.2=0 ablates head 2 of layer 3");
    /// Throws Error(input) for a gain without a layer, and what run_on_processor and open_text_model throw.
    checkpoint::TextModelPtr open() const;
    /// Returns the edits of the file, then the gains. Throws Error(input) for a head that the model does not
    /// have.
    checkpoint::ModelEdits edits(const checkpoint::TextModel& model) const;

private:
    std::string folder_;
    std::vector<std::string> gains_;
    std::optional<std::string> patch_;
    std::string device_ = "auto";
};

/// A text for a model, or its token ids.
class PromptOption {
public:
    /// Adds --NAME and --NAME-ids; for the name "text" --text, --ids and --text-pair.
    void add_to(CLI::App& command, const std::string& name, const std::string& help);
    bool given() const { return text_ || ids_; }
    /// Throws Error(usage) if neither was given.
    void require() const;
    /// Replaces the text and the ids by the value of a field of a set of prompts.
    void set(const analysis::PromptValue& value);
    /// second: the second text for a prompt without its own --text-pair. Throws Error(usage) if no text was
    /// given, if `decoder` was given for a model with a single stack, or if a second text was given for a
    /// tokenizer without pairs; Error(input) if the text is invalid.
    checkpoint::ModelInputs read(const checkpoint::TextModel& model, const DecoderText& decoder = {},
                                 const SecondText& second = {}) const;

private:
    std::string name_;
    std::optional<std::string> text_;
    SecondText second_;
    std::optional<std::vector<std::int64_t>> ids_;
};

/// A token, given as a word or as an id.
class TokenOption {
public:
    /// Adds --NAME and --NAME-id.
    void add_to(CLI::App& command, const std::string& name, const std::string& help);
    bool given() const { return word_ || id_; }
    /// Replaces the word and the id by the value of a field of a set of prompts; without a tokenizer, a word
    /// is an id. Throws Error(input) for several ids.
    void set(const std::string& name, const analysis::PromptValue& value, const checkpoint::TextModel& model);
    /// Nothing if neither was given. Throws Error(input) for a word of several tokens and for an id outside
    /// the vocabulary.
    std::optional<std::int64_t> read(const checkpoint::TextModel& model) const;

private:
    std::string name_;
    std::optional<std::string> word_;
    std::optional<std::int64_t> id_;
};

/// An option that applies only to some values of --what.
struct OptionOfWhat {
    std::string option;
    std::vector<std::string> whats;
};
/// Throws Error(usage) if an option of `options` was given that does not apply to `what`.
void refuse_options_of_others(const CLI::App& command, const std::string& what,
                              const std::vector<OptionOfWhat>& options);

/// Returns the token as in the vocabulary; without a tokenizer, "#" and its id.
std::string spelling_of(const checkpoint::TextModel& model, std::int64_t id);

} // namespace headscope::cli
