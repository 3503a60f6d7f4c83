#pragma once

#include "core/text/tokenizer/json_field.h"

#include <functional>

namespace headscope::text {

/// Turns the spellings of tokens into pieces of text, which are joined in the end.
using Decoder = std::function<std::vector<std::string>(std::vector<std::string>)>;

/// A "decoder" object. Throws Error(input) for what it does not know.
Decoder read_decoder(const JsonField& field);

} // namespace headscope::text
