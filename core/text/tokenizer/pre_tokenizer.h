#pragma once

#include "core/text/tokenizer/aligned_text.h"
#include "core/text/tokenizer/json_field.h"

#include <functional>

namespace headscope::text {

/// Splits a text into words, none of them empty. The model processes one word at a time.
using PreTokenizer = std::function<std::vector<AlignedText>(const AlignedText&)>;

/// Reads a "pre_tokenizer" object. Throws Error(input) for an unknown type.
PreTokenizer read_pre_tokenizer(const JsonField& field);

} // namespace headscope::text
