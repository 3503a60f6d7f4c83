#include "core/text/tokenizer/normalizers/normalizer.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>

namespace headscope::text {

namespace {

constexpr std::string_view blank_mark = "\u2581";

/// The first part of a text that is replaced as a whole, and its replacement.
struct Replaced {
    std::size_t size = 0;
    std::string_view by;
};

class SentencePieceNormalizer {
public:
    explicit SentencePieceNormalizer(SentencePieceNormalization options) : options_(std::move(options)) {
        std::ranges::sort(options_.kept, std::greater<>(), &std::string::size);
    }

    AlignedText operator()(const AlignedText& text) const {
        const std::string_view bytes = text.bytes();
        std::size_t at = 0;
        while (options_.removes_extra_blanks && at < bytes.size()) {
            const Replaced part = replaced(bytes.substr(at));
            if (part.by != " ")
                break;
            at += part.size;
        }
        if (at == bytes.size())
            return {};
        const TextSpan first = text.source(at);
        AlignedText out;
        out.reserve(text.size() + text.size() / 2);
        bool after_blank = options_.removes_extra_blanks;
        while (at < bytes.size()) {
            const Replaced part = replaced(bytes.substr(at));
            append(out, part.by, after_blank, text.source(at, at + part.size));
            at += part.size;
        }
        if (options_.removes_extra_blanks) {
            std::size_t end = out.size();
            while (std::string_view(out.bytes()).substr(0, end).ends_with(blank()))
                end -= blank().size();
            out = out.slice(0, end);
        }
        // A blank before the text would be removed with the blanks after it.
        if (!options_.adds_blank ||
            (out.empty() && options_.removes_extra_blanks && !options_.blank_as_suffix))
            return out;
        if (options_.blank_as_suffix || out.empty())
            out.append(blank(), out.empty() ? first : out.source(out.size() - 1));
        else
            out.prepend(blank());
        return out;
    }

private:
    std::string_view blank() const { return options_.marks_blanks ? blank_mark : std::string_view(" "); }

    /// A user-defined piece, or the longest key of the charsmap, or one character.
    Replaced replaced(std::string_view text) const {
        for (const std::string& piece : options_.kept)
            if (text.starts_with(piece))
                return {piece.size(), text.substr(0, piece.size())};
        if (const auto match = options_.charsmap ? options_.charsmap->longest(text) : std::nullopt)
            return {match->size, match->replacement};
        const std::size_t size = code_point_at(text, 0).value_or(CodePoint{0xFFFD, 1}).size;
        return {size, text.substr(0, size)};
    }

    /// Appends a replaced part. Of several blanks in succession only the first remains if the model says so;
    /// `after_blank`: the text before the part ends with one.
    void append(AlignedText& out, std::string_view part, bool& after_blank, TextSpan source) const {
        while (after_blank && part.starts_with(' '))
            part.remove_prefix(1);
        if (!part.empty()) {
            after_blank = part.ends_with(' ');
            for (std::size_t blank_at = part.find(' '); blank_at != std::string_view::npos;
                 blank_at = part.find(' ')) {
                out.append(part.substr(0, blank_at), source);
                out.append(blank(), source);
                part.remove_prefix(blank_at + 1);
            }
            out.append(part, source);
        }
        after_blank = after_blank && options_.removes_extra_blanks;
    }

    SentencePieceNormalization options_;
};

} // namespace

Normalizer sentencepiece_normalizer(SentencePieceNormalization options) {
    return [normalizer = std::make_shared<const SentencePieceNormalizer>(std::move(options))](
               const AlignedText& text) { return (*normalizer)(text); };
}

} // namespace headscope::text
