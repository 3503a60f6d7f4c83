#include "core/base/message.h"
#include "core/text/tokenizer/normalizers/normalizer.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <memory>

namespace headscope::text {

namespace {

/// The bytes of a base64 text (RFC 4648, section 4).
std::string read_base64(const JsonField& field) {
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text = field.string();
    const std::size_t size = text.size();
    for (int padding = 0; padding < 2 && text.ends_with('='); ++padding)
        text.pop_back();
    if (size % 4 != 0 || text.find_first_not_of(alphabet) != std::string::npos)
        field.fail(tr("precompiled.should_base64_four",
                      "it should be base64, four characters for every three bytes"));
    std::string bytes;
    std::uint32_t waiting = 0, count = 0; // bits that do not form a byte yet
    for (const char letter : text) {
        waiting = waiting << 6U | static_cast<std::uint32_t>(alphabet.find(letter));
        if (count += 6; count >= 8)
            bytes += static_cast<char>(waiting >> (count -= 8) & 0xFFU);
    }
    return bytes;
}

/// SentencePiece's table of replacements: the size of a trie in bytes as a 32-bit number, the trie, and the
/// replacements, each followed by a zero. All numbers are little endian. The trie is a double array in the
/// format of darts-clone: the unit at the index p of a byte has the byte as its label, and the unit of the
/// next byte c is at (p ^ offset) ^ c. The value of the unit at p ^ offset is the start of the replacement of
/// a key that ends at p.
class Charsmap {
public:
    explicit Charsmap(const JsonField& field) {
        const std::string bytes = read_base64(field);
        constexpr std::size_t width = 4;
        const auto number = [&](std::size_t at) {
            std::uint32_t value = 0;
            for (std::size_t i = width; i-- > 0;)
                value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
            return value;
        };
        const std::size_t size = bytes.size() < width ? 0 : number(0);
        if (size == 0 || size % width != 0 || size > bytes.size() - width)
            field.fail(tr(
                "precompiled.bytes_should_hold_length",
                "its {} bytes should hold the length of a trie and the whole trie; save the tokenizer again",
                bytes.size()));
        for (std::size_t at = width; at <= size; at += width)
            units_.push_back(number(at));
        replacements_ = bytes.substr(width + size);
        if (to_utf8_lossy(replacements_) != replacements_)
            field.fail(tr("precompiled.replacements_should_utf_8",
                          "its replacements should be UTF-8; save the tokenizer again"));
        check(field);
    }

    /// The replacement of the shortest key that is a prefix of the text.
    std::optional<std::string_view> find(std::string_view text) const {
        std::size_t at = 0;
        for (const char letter : text) {
            const auto next = child(at, static_cast<unsigned char>(letter));
            if (!next)
                return std::nullopt;
            at = *next;
            if (has_value(at)) {
                const std::string_view rest = std::string_view(replacements_).substr(value(at));
                return rest.substr(0, rest.find('\0'));
            }
        }
        return std::nullopt;
    }

private:
    /// The index that a unit's children and value are relative to.
    std::size_t base(std::size_t at) const {
        const std::uint32_t unit = units_[at];
        return at ^ std::size_t{(unit >> 10U) << ((unit & 0x200U) >> 6U)};
    }
    bool has_value(std::size_t at) const { return (units_[at] & 0x100U) != 0; }
    std::size_t value(std::size_t at) const { return units_[base(at)] & 0x7FFFFFFFU; }
    std::optional<std::size_t> child(std::size_t at, unsigned byte) const {
        const std::size_t place = base(at) ^ byte;
        const bool is_child = byte != 0 && place < units_.size() && (units_[place] & 0x800000FFU) == byte;
        return is_child ? std::optional(place) : std::nullopt;
    }

    /// Visits all keys, depth first.
    void check(const JsonField& field) const {
        enum class State : std::uint8_t { unseen, open, done };
        std::vector<State> states(units_.size());
        struct Place {
            std::size_t at;
            unsigned next_byte = 1;
        };
        std::vector<Place> path{{0}};
        while (!path.empty()) {
            auto& [at, byte] = path.back();
            if (byte == 1)
                check_unit(at, field);
            states[at] = byte <= 0xFF ? State::open : State::done;
            if (byte > 0xFF) {
                path.pop_back();
                continue;
            }
            const auto next = child(at, byte++);
            if (next && states[*next] == State::open)
                field.fail(tr("precompiled.trie_leads_unit_back",
                              "its trie leads from unit {} back to unit {}, so that a key has no end; save "
                              "the tokenizer again",
                              at, *next));
            if (next && states[*next] == State::unseen)
                path.push_back({*next});
        }
    }

    void check_unit(std::size_t at, const JsonField& field) const {
        if (base(at) >= units_.size())
            field.fail(tr("precompiled.trie_units_points_outside",
                          "its trie of {} units points outside at unit {}; save the tokenizer again",
                          units_.size(), at));
        if (!has_value(at))
            return;
        const std::size_t begin = value(at);
        if (begin > replacements_.size() ||
            (begin < replacements_.size() &&
             (static_cast<unsigned char>(replacements_[begin]) & 0xC0U) == 0x80U))
            field.fail(tr(
                "precompiled.trie_names_replacement_byte",
                "its trie names a replacement at byte {} of {}, where none begins; save the tokenizer again",
                begin, replacements_.size()));
    }

    std::vector<std::uint32_t> units_;
    std::string replacements_;
};

/// A text with replaced parts. As in Hugging Face's library, a character of a replacement has the source of
/// the character at the same position of the replaced part, or of the last one there; and the source of the
/// first remaining character extends back over those removed before it, to the beginning of the text.
class ReplacedText {
public:
    explicit ReplacedText(const AlignedText& text) : text_(text) { out_.reserve(text.size()); }

    /// Replaces the bytes [begin, end).
    void append(std::size_t begin, std::size_t end, std::string_view replacement) {
        for_each_code_point(replacement, [&](char32_t letter, std::size_t, std::size_t) {
            TextSpan source = text_.source(begin);
            if (out_.empty())
                first_left_ = begin;
            if (begin == first_left_)
                source.begin = text_.source(0).begin;
            out_.append(letter, source);
            if (const auto here = code_point_at(text_.bytes(), begin); here && begin + here->size < end)
                begin += here->size;
        });
    }

    AlignedText take() { return std::move(out_); }

private:
    const AlignedText& text_;
    AlignedText out_;
    std::size_t first_left_ = 0; ///< position in `text_` of the first character that is not removed
};

/// Replaces grapheme clusters of fewer than 6 bytes that begin with a key; in other clusters, replaces each
/// character separately.
AlignedText replaced_clusters(const AlignedText& text, const Charsmap& map) {
    constexpr std::size_t too_long = 6;
    const std::string_view bytes = text.bytes();
    ReplacedText out(text);
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t end = cluster_end(bytes, at);
        const std::string_view cluster = bytes.substr(at, end - at);
        if (const auto whole = cluster.size() < too_long ? map.find(cluster) : std::nullopt)
            out.append(at, end, *whole);
        else
            for_each_code_point(cluster, [&](char32_t, std::size_t offset, std::size_t size) {
                const std::string_view letter = cluster.substr(offset, size);
                out.append(at + offset, at + offset + size, map.find(letter).value_or(letter));
            });
        at = end;
    }
    return out.take();
}

} // namespace

Normalizer read_precompiled_normalizer(const JsonField& field) {
    return [map = std::make_shared<const Charsmap>(field.at("precompiled_charsmap"))](
               const AlignedText& text) { return replaced_clusters(text, *map); };
}

} // namespace headscope::text
