#pragma once

#include "core/checkpoint/model/model_inputs.h"
#include "core/text/tokenizer/tokenizer.h"

#include <optional>
#include <string>

namespace headscope::checkpoint {

/// How a model reads two texts that belong together, such as a question and its answer.
struct PairForm {
    bool known = false; ///< the tokenizer has a form for two texts
    bool types = false; ///< the model reads token types, which a typed separator does not set
};

/// Returns the form for the tokenizer at `path`. In an encoder-decoder the texts go into the encoder.
PairForm pair_form(const text::Tokenizer& tokenizer, const Model& model, const std::string& path);

/// The tokens of a text, or of two if `second` is not empty, without labels. Throws like Tokenizer::encode.
ModelInputs text_inputs(const text::Tokenizer& tokenizer, const PairForm& form, const std::string& text,
                        const std::string& second);

struct TextPair {
    std::string first, second;
    bool operator==(const TextPair&) const = default;
};

/// The two texts around a separator that was typed inside one text; nothing if there is none or the model
/// has no token types.
std::optional<TextPair> typed_pair(const text::Tokenizer& tokenizer, const PairForm& form,
                                   const std::string& text);

} // namespace headscope::checkpoint
