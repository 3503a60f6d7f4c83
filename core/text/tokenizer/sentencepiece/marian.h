#pragma once

#include "core/text/tokenizer/folder_options.h"
#include "core/text/tokenizer/tokenizer.h"

#include <memory>
#include <string>

namespace headscope::text {

/// The tokenizer of Marian's translation models: source.spm splits a text, target.spm the decoder's text, and
/// vocab.json has the ids of both. A language code such as ">>fra<<" before a text is one token; </s> comes
/// after every text. Throws Error(input) for missing or malformed files and for separate vocabularies.
std::unique_ptr<Tokenizer> load_marian_tokenizer(const std::string& folder, const FolderOptions& options);

} // namespace headscope::text
