#pragma once

#include "core/text/tokenizer/aligned_text.h"
#include "core/text/tokenizer/json_field.h"
#include "core/text/tokenizer/regex.h"

#include <functional>

namespace headscope::text {

/// Finds the places of a UTF-8 text that fit; first to last, without overlap.
using Pattern = std::function<std::vector<ByteRange>(std::string_view text)>;

/// Each code point that fulfils `fits`, by itself.
Pattern letter_pattern(bool (*fits)(char32_t));
/// Each occurrence of a text; none of an empty one.
Pattern literal_pattern(std::string text);
Pattern regex_pattern(Regex regex);
/// A "pattern" key: {"String": s} or {"Regex": r}.
Pattern read_pattern(const JsonField& field);

/// What becomes of the matches when a text is split.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// A "behavior" key.
SplitBehavior read_behavior(const JsonField& field);

/// The parts of a text between and at the matches; empty parts are left out. With `invert` matches and the
/// text between them change places.
std::vector<AlignedText> split(const AlignedText& text, const Pattern& pattern, SplitBehavior behavior,
                               bool invert = false);

} // namespace headscope::text
