#pragma once

#include "core/checkpoint/model/model_config.h"
#include "core/checkpoint/model/text_pair.h"

#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace headscope::cli {

/// Warns on standard error about a separator typed inside `text`, if the model has token types. Any
/// thread.
void warn_of_typed_pair(const text::Tokenizer& tokenizer, const checkpoint::PairForm& form,
                        const std::string& text);

/// The option --text-pair: the second of two texts.
struct SecondText {
    std::optional<std::string> text;
    /// Returns the option, so that it can need or exclude others.
    CLI::Option* add_to(CLI::App& command, const std::string& help);
    /// Throws Error(usage) if it was given and the tokenizer has no form for two texts.
    void check(const checkpoint::PairForm& form, const checkpoint::ModelConfig& config) const;
};

} // namespace headscope::cli
