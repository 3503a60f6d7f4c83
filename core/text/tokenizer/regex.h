#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// Bytes [begin, end) of a text.
struct ByteRange {
    std::size_t begin = 0;
    std::size_t end = 0;
    friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// A regular expression as tokenizer files hold them: the syntax and the meaning of Oniguruma's Ruby flavour,
/// which Hugging Face's library uses, run by PCRE2. Immutable; may be used from several threads at once.
class Regex {
public:
    /// Throws Error(input) that begins with `place` for a pattern that is malformed, or that the two
    /// libraries read differently (set operations inside a character class).
    Regex(std::string_view pattern, std::string place);

    /// All matches in a UTF-8 text, first to last; they do not overlap. An empty match directly after
    /// another match does not count. Throws Error(input) when the pattern takes too many steps.
    std::vector<ByteRange> find_all(std::string_view text) const;

private:
    struct Code;
    std::shared_ptr<const Code> code_;
    std::string place_;
};

/// The pattern as PCRE2 has to be given it. Throws Error(input) that begins with `place`.
std::string oniguruma_to_pcre(std::string_view pattern, const std::string& place);

} // namespace headscope::text
