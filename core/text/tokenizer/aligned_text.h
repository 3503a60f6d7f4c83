#pragma once

#include "core/text/tokenizer/tokenizer.h"

#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// A UTF-8 text during tokenization. Each byte has a source: the characters of the original text that it came
/// from.
class AlignedText {
public:
    AlignedText() = default;
    /// Throws Error(input) for invalid UTF-8 and for a text of more than most_text_bytes.
    explicit AlignedText(std::string_view utf8);

    const std::string& bytes() const { return bytes_; }
    bool empty() const { return bytes_.empty(); }
    std::size_t size() const { return bytes_.size(); }

    /// The source of one byte.
    TextSpan source(std::size_t byte) const { return spans_[byte]; }
    /// The source of the bytes [begin, end): from the source of the first byte to that of the last. For an
    /// empty range: the end of the preceding source.
    TextSpan source(std::size_t begin, std::size_t end) const;

    /// Reserves memory for that many bytes.
    void reserve(std::size_t bytes);
    void append(char32_t letter, TextSpan source);
    void append(std::string_view utf8, TextSpan source);
    /// Appends the bytes [begin, end) of another text with their sources.
    void append(const AlignedText& other, std::size_t begin, std::size_t end);
    /// Inserts `utf8` before a nonempty text; the new bytes have the source of the text's first character.
    void prepend(std::string_view utf8);
    AlignedText slice(std::size_t begin, std::size_t end) const;

private:
    std::string bytes_;
    std::vector<TextSpan> spans_; ///< one for each byte
};

} // namespace headscope::text
