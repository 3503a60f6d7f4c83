#pragma once

#include "core/text/tokenizer/folder_options.h"

#include <nlohmann/json_fwd.hpp>

namespace headscope::text {

/// Changes the content of a tokenizer.json like Hugging Face's class of the folder when it loads one: added
/// tokens, the normalizer of BERT's kinds, the space before a text, begin and end tokens. `usual`: the
/// class's special tokens.
void apply_tokenizer_class(nlohmann::json& description, const FolderOptions& options,
                           std::span<const DefaultSpecialToken> usual);

} // namespace headscope::text
