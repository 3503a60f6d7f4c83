#pragma once

#include "core/text/tokenizer/aligned_text.h"
#include "core/text/tokenizer/json_field.h"

#include <functional>

namespace headscope::text {

/// Rewrites a text before it is cut; keeps the sources of what it writes.
using Normalizer = std::function<AlignedText(const AlignedText&)>;

/// A "normalizer" object. Throws Error(input) for what it does not know.
Normalizer read_normalizer(const JsonField& field);

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The Unicode normal form of a text. A composed character has the source of its first part.
AlignedText normalized(const AlignedText& text, NormalForm form);

} // namespace headscope::text
