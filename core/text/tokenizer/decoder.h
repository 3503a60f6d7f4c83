#pragma once

#include "core/text/tokenizer/json_field.h"

#include <functional>

namespace headscope::text {

/// Converts tokens from the vocabulary's spelling into pieces of text, which the caller joins.
using Decoder = std::function<std::vector<std::string>(std::vector<std::string>)>;

/// Reads a "decoder" object. Throws Error(input) for an unknown type.
Decoder read_decoder(const JsonField& field);

} // namespace headscope::text
