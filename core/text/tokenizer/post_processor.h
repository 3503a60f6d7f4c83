#pragma once

#include "core/text/tokenizer/json_field.h"
#include "core/text/tokenizer/tokenizer.h"

#include <functional>
#include <vector>

namespace headscope::text {

/// Changes the finished encodings of one text or of two, whose types are 0 and 1: adds special tokens, trims
/// offsets. The remaining encodings are concatenated in their order.
using PostProcessor = std::function<void(std::vector<Encoding>&)>;

/// Reads a "post_processor" object. Throws Error(input) for an unknown type.
PostProcessor read_post_processor(const JsonField& field);

/// Appends the tokens of `more` to `to`.
void append(Encoding& to, const Encoding& more);

} // namespace headscope::text
