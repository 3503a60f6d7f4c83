#pragma once

#include "core/text/tokenizer/json_field.h"
#include "core/text/tokenizer/tokenizer.h"

#include <functional>
#include <vector>

namespace headscope::text {

/// Changes the finished encodings of one text or of two, whose types are 0 and 1: adds special tokens, trims
/// offsets. What is left in the list stands in its order, one behind the other.
using PostProcessor = std::function<void(std::vector<Encoding>&)>;

/// Reads a "post_processor" object. Throws Error(input) for an unknown type.
PostProcessor read_post_processor(const JsonField& field);

/// Adds the tokens of `more` behind those of `to`.
void append(Encoding& to, const Encoding& more);

} // namespace headscope::text
