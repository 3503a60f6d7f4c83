#pragma once

#include "app/cli/model_options.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headscope::cli {

/// A model that the processor runs with edits: --model, --gain, --patch and --device.
class EditedModelOption {
public:
    void add_to(CLI::App& command,
                const std::string& model_help = "a checkpoint folder or GGUF file, or pocket",
                const std::string& gain_help = "scale a head: 3.2=0 switches off head 2 of layer 3");
    /// Throws Error(usage) for a gain that names no layer, else as run_on_processor and open_text_model do.
    checkpoint::TextModelPtr open() const;
    /// The edits of the file, then the gains. Throws Error(input) for a head that the model has not.
    checkpoint::ModelEdits edits(const checkpoint::TextModel& model) const;

private:
    std::string folder_;
    std::vector<std::string> gains_;
    std::optional<std::string> patch_;
    std::string device_ = "auto";
};

/// A text of a model, or its ids.
class PromptOption {
public:
    /// Adds --NAME and --NAME-ids; of the name "text" --text, --ids and --text-pair.
    void add_to(CLI::App& command, const std::string& name, const std::string& help);
    /// Throws Error(usage) when neither was given.
    void require() const;
    /// second: the second text of a prompt that has no --text-pair of its own. Throws Error(usage) when no
    /// text was given, or `decoder` for a model of one stack, or a second text for a tokenizer without pairs;
    /// Error(input) with a sentence about the text.
    checkpoint::ModelInputs read(const checkpoint::TextModel& model, const DecoderText& decoder = {},
                                 const SecondText& second = {}) const;

private:
    std::string name_;
    std::optional<std::string> text_;
    SecondText second_;
    std::optional<std::vector<std::int64_t>> ids_;
};

/// A token by its word or by its id.
class TokenOption {
public:
    /// Adds --NAME and --NAME-id.
    void add_to(CLI::App& command, const std::string& name, const std::string& help);
    bool given() const { return word_ || id_; }
    /// Nothing when neither was given. Throws Error(input) for a word of several tokens and for an id outside
    /// the vocabulary.
    std::optional<std::int64_t> read(const checkpoint::TextModel& model) const;

private:
    std::string name_;
    std::optional<std::string> word_;
    std::optional<std::int64_t> id_;
};

/// An option that only some values of --what read.
struct OptionOfWhat {
    std::string option;
    std::vector<std::string> whats;
};
/// Throws Error(usage) for an option of `options` that was given and is not for `what`.
void refuse_options_of_others(const CLI::App& command, const std::string& what,
                              const std::vector<OptionOfWhat>& options);

/// In the vocabulary's spelling; without a tokenizer "#" and its id.
std::string spelling_of(const checkpoint::TextModel& model, std::int64_t id);

} // namespace headscope::cli
