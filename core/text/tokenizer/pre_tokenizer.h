#pragma once

#include "core/text/tokenizer/aligned_text.h"
#include "core/text/tokenizer/json_field.h"

#include <functional>

namespace headscope::text {

/// Cuts a text into the words that the model sees one by one; none of them is empty.
using PreTokenizer = std::function<std::vector<AlignedText>(const AlignedText&)>;

/// A "pre_tokenizer" object. Throws Error(input) for what it does not know.
PreTokenizer read_pre_tokenizer(const JsonField& field);

} // namespace headscope::text
