#include "core/text/tokenizer/normalizers/normalizer.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <utf8proc.h>

namespace headscope::text {

namespace {

struct Placed {
    char32_t letter;
    TextSpan source;
    utf8proc_propval_t combining; ///< canonical combining class
};

Placed placed(char32_t letter, TextSpan source) {
    return {letter, source, utf8proc_get_property(static_cast<utf8proc_int32_t>(letter))->combining_class};
}

/// The full decomposition, with combining marks in canonical order.
std::vector<Placed> decompose(const AlignedText& text, bool compatibility) {
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                        (compatibility ? UTF8PROC_COMPAT : 0));
    std::vector<Placed> letters;
    for_each_code_point(text.bytes(), [&](char32_t letter, std::size_t at, std::size_t) {
        constexpr std::size_t longest = 32; // U+FDFA has the longest decomposition, 18
        std::array<utf8proc_int32_t, longest> parts{};
        int last_class = UTF8PROC_BOUNDCLASS_START;
        const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(letter), parts.data(),
                                                   parts.size(), options, &last_class);
        if (count < 1 || count > static_cast<utf8proc_ssize_t>(longest)) {
            letters.push_back(placed(letter, text.source(at)));
            return;
        }
        for (utf8proc_ssize_t i = 0; i < count; ++i)
            letters.push_back(
                placed(static_cast<char32_t>(parts[static_cast<std::size_t>(i)]), text.source(at)));
    });
    for (auto first = letters.begin(); first != letters.end();) {
        if (first->combining == 0) {
            ++first;
            continue;
        }
        const auto last =
            std::find_if(first, letters.end(), [](const Placed& p) { return p.combining == 0; });
        std::stable_sort(first, last,
                         [](const Placed& a, const Placed& b) { return a.combining < b.combining; });
        first = last;
    }
    return letters;
}

/// The character that two characters compose to; 0 if they do not compose.
char32_t composed_pair(char32_t first, char32_t second) {
    std::array<utf8proc_int32_t, 3> pair{static_cast<utf8proc_int32_t>(first),
                                         static_cast<utf8proc_int32_t>(second), 0};
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    return utf8proc_normalize_utf32(pair.data(), 2, options) == 1 ? static_cast<char32_t>(pair[0]) : 0;
}

/// The canonical composition algorithm (Unicode standard, section 3.11).
std::vector<Placed> compose(const std::vector<Placed>& letters) {
    std::vector<Placed> out;
    std::size_t starter = 0;
    bool has_starter = false;
    for (const Placed& next : letters) {
        if (has_starter) {
            const bool adjacent = starter + 1 == out.size();
            const bool blocked = !adjacent && out.back().combining >= next.combining;
            const char32_t both = blocked ? 0 : composed_pair(out[starter].letter, next.letter);
            if (both != 0) {
                out[starter].letter = both;
                continue;
            }
        }
        if (next.combining == 0) {
            starter = out.size();
            has_starter = true;
        }
        out.push_back(next);
    }
    return out;
}

} // namespace

AlignedText normalized(const AlignedText& text, NormalForm form) {
    if (std::ranges::all_of(text.bytes(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; }))
        return text;
    std::vector<Placed> letters = decompose(text, form == NormalForm::nfkc || form == NormalForm::nfkd);
    if (form == NormalForm::nfc || form == NormalForm::nfkc)
        letters = compose(letters);
    AlignedText out;
    for (const Placed& letter : letters)
        out.append(letter.letter, letter.source);
    return out;
}

} // namespace headscope::text
