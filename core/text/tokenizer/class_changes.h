#pragma once

#include "core/text/tokenizer/folder_options.h"

#include <nlohmann/json_fwd.hpp>

namespace headscope::text {

/// Changes the content of a tokenizer.json as Hugging Face's class of the folder does when it opens one:
/// added tokens on top, the normalizer of BERT's kinds, the blank before a text, begin and end tokens.
/// `usual`: the class's special tokens.
void apply_class(nlohmann::json& description, const FolderOptions& options,
                 std::span<const UsualToken> usual);

} // namespace headscope::text
