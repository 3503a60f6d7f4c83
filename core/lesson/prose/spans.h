#pragma once

#include "core/lesson/expression.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::lesson {

/// A number or word computed from the current problem:
/// - `{{weights[0][sat, cat]}}`, with `:2` for two decimals.
/// - `{{weights[0][0, 0] = 0.97}}` prints the typed number; the check compares that number with the
///   engine's at the typed decimals.
struct LiveValue {
    Expression expression;
    std::optional<int> decimals;
    std::string quoted; ///< empty: the computed value is printed
    int line = 0;
};

enum class SpanStyle : std::uint8_t { plain, strong, emphasis, code };
/// A run of text in one style, or a live value.
struct Span {
    SpanStyle style = SpanStyle::plain;
    std::string text = {};
    std::optional<LiveValue> value = {};
    /// The target of the link: "page#heading" of the manual, or a web address; empty if the text is not a
    /// link.
    std::string link = {};
    /// The glossary entry that `[[entry|text]]` introduces; empty for all other text.
    std::string term = {};
    int line = 0; ///< in the file, of the first character; 0: unknown
    /// The offsets in `text` at which the following lines of the file begin.
    std::vector<std::size_t> line_starts = {};
};
using Spans = std::vector<Span>;

/// The line in the file of a character of a span; 0 if it is unknown.
inline int line_at(const Span& span, std::size_t offset) {
    const auto starts = std::ranges::count_if(span.line_starts, [&](std::size_t at) { return at <= offset; });
    return span.line == 0 ? 0 : span.line + static_cast<int>(starts);
}

} // namespace headscope::lesson
