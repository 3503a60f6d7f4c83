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

/// A regular expression of a tokenizer file, in Oniguruma's own syntax, which Hugging Face's library uses.
/// Immutable; may be used from several threads at once.
class Regex {
public:
    /// Throws Error(input) that begins with `place` for a malformed pattern.
    Regex(std::string_view pattern, std::string place);

    /// All matches in a UTF-8 text of less than 2^31 bytes, in order and without overlap. An empty match
    /// directly after another match does not count. Throws Error(input) if the pattern takes too many steps
    /// or too much memory.
    std::vector<ByteRange> find_all(std::string_view text) const;

private:
    struct Code;
    std::shared_ptr<const Code> code_;
    std::string place_;
};

} // namespace headscope::text
