#pragma once

#include "core/text/tokenizer/json_field.h"
#include "core/text/tokenizer/tokenizer.h"

#include <functional>

namespace headscope::text {

/// Changes a finished encoding: adds special tokens, trims offsets.
using PostProcessor = std::function<void(Encoding&)>;

/// A "post_processor" object. Of a template only the form for a single text is used. Throws Error(input) for
/// what it does not know.
PostProcessor read_post_processor(const JsonField& field);

} // namespace headscope::text
