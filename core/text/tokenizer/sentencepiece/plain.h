#pragma once

#include "core/text/tokenizer/parts.h"
#include "core/text/tokenizer/sentencepiece/model_file.h"

#include <string>
#include <vector>

namespace headscope::text {

/// The parts of SentencePiece's own tokenizer: the pieces and their ids without begin and end tokens. Throws
/// Error(input) for a model that require_splitting_kind rejects or with malformed replacements.
TokenizerParts sentencepiece_parts(const SentencePieceModel& model, const std::string& name);

/// Throws Error(input) for a model that splits a text into words or characters instead of pieces.
void require_splitting_kind(const SentencePieceModel& model, const std::string& name);

/// Throws Error(input): the charsmap of a model cannot be used.
[[noreturn]] void refuse_charsmap(const std::string& name, const std::string& wanted);

/// The tokens with ids from 0.
std::shared_ptr<const Vocabulary> vocabulary_of(std::vector<std::string> texts);

/// Decodes blanks and byte tokens. `removes_blank`: the text begins with an added blank.
Decoder sentencepiece_decoder(bool removes_blank);

} // namespace headscope::text
