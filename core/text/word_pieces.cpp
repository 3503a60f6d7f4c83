#include "core/text/word_pieces.h"

#include "core/text/readable_tokens.h"
#include "core/text/tokenizer/byte_level.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>

namespace headscope::text {

namespace {

constexpr std::string_view continues_mark = "##";
constexpr std::array<std::string_view, 3> word_marks{"Ġ", "▁", " "};

bool continues_word(std::string_view piece) {
    return piece.size() > continues_mark.size() && piece.starts_with(continues_mark);
}

std::string_view without_mark(std::string_view piece) {
    for (bool again = true; again;) {
        again = false;
        for (const std::string_view mark : word_marks)
            if (piece.starts_with(mark)) {
                piece.remove_prefix(mark.size());
                again = true;
            }
    }
    return piece;
}

bool has_mark(std::string_view piece) {
    return without_mark(piece).size() < piece.size();
}

/// Returns true if the text consists only of punctuation, symbols, spaces and control characters. A part of a
/// character returns false, since the character may be a letter.
bool is_separate_word(std::string_view text) {
    if (text.empty())
        return false;
    while (!text.empty()) {
        utf8proc_int32_t code_point = -1;
        const auto used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                           static_cast<utf8proc_ssize_t>(text.size()), &code_point);
        if (used <= 0)
            return false;
        const utf8proc_category_t category = utf8proc_category(code_point);
        const bool sign = category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_SO;
        if (!sign && category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_ZS)
            return false;
        text.remove_prefix(static_cast<std::size_t>(used));
    }
    return true;
}

} // namespace

bool is_special_token(std::string_view token) {
    constexpr std::array<std::string_view, 14> named{
        "[CLS]", "[SEP]", "[PAD]", "[BOS]", "[EOS]",           "<s>",          "</s>", "<pad>",
        "<bos>", "<eos>", "<cls>", "<sep>", "<start_of_turn>", "<end_of_turn>"};
    return std::ranges::find(named, token) != named.end() ||
           (token.size() > 4 && token.starts_with("<|") && token.ends_with("|>"));
}

std::vector<TokenRun> group_pieces_into_words(const std::vector<std::string>& pieces) {
    const bool begins_marked = std::ranges::any_of(
        pieces, [](const std::string& piece) { return !is_special_token(piece) && has_mark(piece); });
    // "Ã©" represents a letter only if the tokens use byte-level characters.
    const bool letters = std::ranges::any_of(
        pieces, [](const std::string& piece) { return piece.starts_with(word_marks.front()); });
    const auto alone = [&](std::string_view piece) {
        const std::string_view text = without_mark(piece);
        const std::optional<std::string> bytes = letters ? bytes_of_byte_level_text(text) : std::nullopt;
        return is_separate_word(bytes ? std::string_view(*bytes) : text);
    };
    std::vector<TokenRun> runs;
    bool open = false; // true if the previous word accepts further pieces
    for (std::size_t n = 0; n < pieces.size(); ++n) {
        const std::string& piece = pieces[n];
        const bool special = is_special_token(piece);
        const bool sign = begins_marked && !special && alone(piece);
        const bool continues =
            open && !special && !sign && (begins_marked ? !has_mark(piece) : continues_word(piece));
        if (continues)
            ++runs.back().count;
        else
            runs.push_back({static_cast<std::int64_t>(n), 1});
        open = !special && !sign;
    }
    return runs;
}

std::vector<std::string> joined_words(const std::vector<std::string>& pieces,
                                      const std::vector<std::string>& readable,
                                      const std::vector<TokenRun>& runs) {
    std::vector<std::string> words;
    words.reserve(runs.size());
    for (const TokenRun& run : runs) {
        const auto begin = pieces.begin() + run.first;
        std::string word = *begin;
        for (auto piece = begin + 1; piece != begin + run.count; ++piece)
            word += continues_word(*piece) ? piece->substr(continues_mark.size()) : *piece;
        words.push_back(std::move(word));
    }
    words = readable_tokens(std::move(words));
    for (std::size_t w = 0; w < runs.size(); ++w)
        if (runs[w].count == 1)
            words[w] = readable[static_cast<std::size_t>(runs[w].first)];
    return words;
}

} // namespace headscope::text
