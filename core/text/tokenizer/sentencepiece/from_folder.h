#pragma once

#include "core/text/tokenizer/sentencepiece/classes.h"
#include "core/text/tokenizer/sentencepiece/model_file.h"
#include "core/text/tokenizer/tokenizer.h"

#include <memory>
#include <string>

namespace headscope::text {

/// The SentencePiece model in a folder, by the names that Hugging Face's classes use; empty if it has none.
std::string find_sentencepiece_file(const std::string& folder);

/// The tokenizer that a class of Hugging Face's library builds from a model and the options of its folder;
/// messages call the model `file`. Throws Error(input) for a model that the class cannot use.
std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const SentencePieceClass& rules,
                                                   const SentencePieceModel& model,
                                                   const FolderOptions& options, const std::string& file);

} // namespace headscope::text
