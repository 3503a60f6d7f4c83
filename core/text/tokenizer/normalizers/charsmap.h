#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// SentencePiece's table of replacements: the size of a trie in bytes as a 32-bit number, the trie, and the
/// replacements, each followed by a zero. All numbers are little endian. The trie is a double array in the
/// format of darts-clone: the unit at the index p of a byte has the byte as its label, and the unit of the
/// next byte c is at (p ^ offset) ^ c. The value of the unit at p ^ offset is the start of the replacement of
/// a key that ends at p.
class Charsmap {
public:
    /// Throws an error; receives a sentence such as "its replacements should be UTF-8; ...".
    using Refuse = std::function<void(const std::string& wanted)>;

    Charsmap(const std::string& bytes, const Refuse& refuse);

    /// A key that is a prefix of a text, and its replacement.
    struct Match {
        std::size_t size = 0; ///< of the key in bytes
        std::string_view replacement;
    };
    /// The shortest key that is a prefix of the text, as Hugging Face's library replaces it.
    std::optional<Match> shortest(std::string_view text) const;
    /// The longest one, as SentencePiece replaces it.
    std::optional<Match> longest(std::string_view text) const;

private:
    std::size_t base(std::size_t at) const;
    bool has_value(std::size_t at) const { return (units_[at] & 0x100U) != 0; }
    std::size_t value(std::size_t at) const { return units_[base(at)] & 0x7FFFFFFFU; }
    std::optional<std::size_t> child(std::size_t at, unsigned byte) const;
    std::optional<Match> match(std::string_view text, bool longest) const;
    void check(const Refuse& refuse) const;
    void check_unit(std::size_t at, const Refuse& refuse) const;

    std::vector<std::uint32_t> units_;
    std::string replacements_;
};

} // namespace headscope::text
