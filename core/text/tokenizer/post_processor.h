#pragma once

#include "core/text/tokenizer/json_field.h"
#include "core/text/tokenizer/tokenizer.h"

#include <functional>

namespace headscope::text {

/// Changes a finished encoding: adds special tokens, trims offsets.
using PostProcessor = std::function<void(Encoding&)>;

/// Reads a "post_processor" object; of a template, only the form for a single text. Throws Error(input) for
/// an unknown type.
PostProcessor read_post_processor(const JsonField& field);

} // namespace headscope::text
