#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// A run of tokens [first, first + count).
struct TokenRun {
    std::int64_t first = 0, count = 1;
    bool operator==(const TokenRun&) const = default;
};

/// Tokens that frame or fill a text and stand for none of it: [CLS], [SEP], [PAD], [BOS], [EOS], <s>, </s>,
/// <pad>, <bos>, <eos>, <cls>, <sep>, <start_of_turn>, <end_of_turn>, and everything written <|...|>. [MASK]
/// and [UNK] stand for words and are not among them.
bool is_special_token(std::string_view token);

/// Which tokens are pieces of one word, by the tokens' own marks; as vocabularies spell them, in the order of
/// the text. The runs cover all tokens.
/// - Where any token begins with GPT-2's "Ġ", SentencePiece's "▁" or a blank, a word begins at such a token,
/// and tokens without the mark continue it. Marks of punctuation stand alone, and so does a line end; a blank
/// alone begins the word that follows.
/// - Else, where any begins with WordPiece's "##", those continue the word before.
/// - Else every token is a word.
/// Special tokens are words of their own; the token after one begins a word.
std::vector<TokenRun> words_of_pieces(const std::vector<std::string>& pieces);

/// The pieces of each run as one readable word: "Ġun", "happy" as "unhappy", "em", "##bed" as "embed", bytes
/// of one character as that character. A run of one token is `readable[first]` as it is. `pieces` and
/// `readable` are of the same tokens.
std::vector<std::string> joined_words(const std::vector<std::string>& pieces,
                                      const std::vector<std::string>& readable,
                                      const std::vector<TokenRun>& runs);

} // namespace headscope::text
