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

/// Whether a token frames or pads a text and stands for no part of it: [CLS], [SEP], [PAD], [BOS], [EOS],
/// <s>, </s>, <pad>, <bos>, <eos>, <cls>, <sep>, <start_of_turn>, <end_of_turn>, and everything of the form
/// <|...|>. Not [MASK] and [UNK], which stand for words.
bool is_special_token(std::string_view token);

/// Groups tokens into words by the tokens' own marks. `pieces` has the vocabulary's spelling, in the order of
/// the text. The runs cover all tokens.
/// - If any token begins with GPT-2's "Ġ", SentencePiece's "▁" or a blank, each such token begins a word, and
///   tokens without the mark continue it. Punctuation marks and line ends stand alone; a blank alone begins
///   the word that follows.
/// - Else, if any token begins with WordPiece's "##", tokens with "##" continue the word before.
/// - Else every token is a word.
/// Special tokens are words of their own; the token after one begins a word.
std::vector<TokenRun> words_of_pieces(const std::vector<std::string>& pieces);

/// The pieces of each run as one readable word: "Ġun", "happy" as "unhappy", "em", "##bed" as "embed", the
/// bytes of one character as that character. A run of one token is `readable[first]`, unchanged. `pieces` and
/// `readable` have the same tokens.
std::vector<std::string> joined_words(const std::vector<std::string>& pieces,
                                      const std::vector<std::string>& readable,
                                      const std::vector<TokenRun>& runs);

} // namespace headscope::text
