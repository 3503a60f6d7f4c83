#include "core/base/message.h"
#include "core/text/tokenizer/normalizers/charsmap.h"
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
        if (const auto whole = cluster.size() < too_long ? map.shortest(cluster) : std::nullopt)
            out.append(at, end, whole->replacement);
        else
            for_each_code_point(cluster, [&](char32_t, std::size_t offset, std::size_t size) {
                const std::string_view letter = cluster.substr(offset, size);
                const auto found = map.shortest(letter);
                out.append(at + offset, at + offset + size, found ? found->replacement : letter);
            });
        at = end;
    }
    return out.take();
}

} // namespace

Normalizer precompiled_normalizer(const std::string& charsmap, const Charsmap::Refuse& refuse) {
    return [map = std::make_shared<const Charsmap>(charsmap, refuse)](const AlignedText& text) {
        return replaced_clusters(text, *map);
    };
}

Normalizer read_precompiled_normalizer(const JsonField& field) {
    const JsonField charsmap = field.at("precompiled_charsmap");
    return precompiled_normalizer(read_base64(charsmap),
                                  [&](const std::string& wanted) { charsmap.fail(wanted); });
}

} // namespace headscope::text
