#pragma once

#include "core/text/tokenizer/aligned_text.h"
#include "core/text/tokenizer/json_field.h"
#include "core/text/tokenizer/regex.h"

#include <functional>

namespace headscope::text {

/// Finds the matching ranges of a UTF-8 text, in order and without overlap.
using Pattern = std::function<std::vector<ByteRange>(std::string_view text)>;

/// Matches each single code point for which `fits` is true.
Pattern code_point_pattern(bool (*fits)(char32_t));
/// Matches each occurrence of a text; an empty text has no matches.
Pattern literal_pattern(std::string text);
Pattern regex_pattern(Regex regex);
/// Reads a "pattern" key: {"String": s} or {"Regex": r}.
Pattern read_pattern(const JsonField& field);

/// Treatment of the matches when a text is split.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// Reads a "behavior" key.
SplitBehavior read_behavior(const JsonField& field);

/// The parts of a text between and at the matches; empty parts are omitted. `invert` exchanges the matches
/// and the text between them.
std::vector<AlignedText> split(const AlignedText& text, const Pattern& pattern, SplitBehavior behavior,
                               bool invert = false);

} // namespace headscope::text
