#pragma once

#include "core/text/tokenizer/aligned_text.h"
#include "core/text/tokenizer/json_field.h"

#include <functional>

namespace headscope::text {

/// Rewrites a text before the pre-tokenizer splits it; each written byte keeps its source.
using Normalizer = std::function<AlignedText(const AlignedText&)>;

/// Reads a "normalizer" object. Throws Error(input) for an unknown type.
Normalizer read_normalizer(const JsonField& field);
/// Reads the normalizer of SentencePiece's models, "Precompiled", whose rules are the "precompiled_charsmap".
Normalizer read_precompiled_normalizer(const JsonField& field);

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The Unicode normal form of a text. A composed character has the source of its first part.
AlignedText normalized(const AlignedText& text, NormalForm form);

} // namespace headscope::text
