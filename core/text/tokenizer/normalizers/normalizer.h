#pragma once

#include "core/text/tokenizer/aligned_text.h"
#include "core/text/tokenizer/json_field.h"
#include "core/text/tokenizer/normalizers/charsmap.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headscope::text {

/// Rewrites a text before the pre-tokenizer splits it; each written byte keeps its source.
using Normalizer = std::function<AlignedText(const AlignedText&)>;

/// Reads a "normalizer" object. Throws Error(input) for an unknown type.
Normalizer read_normalizer(const JsonField& field);
/// Reads the normalizer of SentencePiece's models, "Precompiled", whose rules are the "precompiled_charsmap".
Normalizer read_precompiled_normalizer(const JsonField& field);
/// Same from the bytes of a table.
Normalizer precompiled_normalizer(const std::string& charsmap, const Charsmap::Refuse& refuse);

/// The options of SentencePiece's own normalizer (the normalizer_spec of a model).
struct SentencePieceNormalization {
    std::shared_ptr<const Charsmap> charsmap; ///< null: no replacements
    bool adds_blank = true;
    bool blank_as_suffix = false; ///< adds it after the text instead of before it
    bool removes_extra_blanks = true;
    bool marks_blanks = true;      ///< writes a blank as U+2581
    std::vector<std::string> kept; ///< pieces that are not replaced, none of them empty
};
/// Rewrites a text as SentencePiece does before it searches for pieces.
Normalizer sentencepiece_normalizer(SentencePieceNormalization options);

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The Unicode normal form of a text. A composed character has the source of its first part.
AlignedText normalized(const AlignedText& text, NormalForm form);

} // namespace headscope::text
